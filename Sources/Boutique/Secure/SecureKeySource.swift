/// Where the key of secure values comes from.
public struct SecureKeySource: Sendable {
  enum Kind: Sendable {
    case file(Result<String, any Error>, isOurPlace: Bool)
    case environment(String)
    case credential(String)
    case bytes([[UInt8]])
  }

  let kind: Kind

  static func defaultFile(group: String, filename: String) -> SecureKeySource {
    SecureKeySource(kind: .environment(group))
  }
  static func defaultFile(database: String) -> SecureKeySource {
    SecureKeySource(kind: .environment(database))
  }
}
