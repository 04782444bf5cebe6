/// Which row a value lives in.
///
/// Two are the same when their names have the same bytes, as in the database: "é" as one character and as
/// two name two.
package enum SettingRow: Sendable {
  /// A stored value's.
  case value(key: String)
  /// A secret's.
  case secret(service: String, group: String, key: String)

  /// The name that its user gave it.
  var key: String {
    switch self {
    case .value(let key), .secret(_, _, let key): key
    }
  }
}

extension SettingRow: Hashable {
  /// Whether the names have the same bytes.
  package static func == (a: SettingRow, b: SettingRow) -> Bool {
    switch (a, b) {
    case (.value(let a), .value(let b)): a.hasBytes(of: b)
    case (.secret(let service, let group, let key), .secret(let s, let g, let k)):
      key.hasBytes(of: k) && service.hasBytes(of: s) && group.hasBytes(of: g)
    default: false
    }
  }

  /// Feeds the bytes of the names into the hasher.
  package func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let key): key.hashBytes(into: &hasher)
    case .secret(let service, let group, let key):
      service.hashBytes(into: &hasher)
      group.hashBytes(into: &hasher)
      key.hashBytes(into: &hasher)
    }
  }
}
