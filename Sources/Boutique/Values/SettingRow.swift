/// Which row a value lives in.
enum SettingRow: Hashable, Sendable {
  case value(key: String)
  case secret(service: String, group: String, key: String)

  /// The name that its user gave it.
  var key: String {
    switch self {
    case .value(let key), .secret(_, _, let key): key
    }
  }
}
