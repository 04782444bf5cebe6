/// Which row a value lives in.
package enum SettingRow: Hashable, Sendable {
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
