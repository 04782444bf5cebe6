import BoutiqueDB
import Foundation

/// Stores the JSON sealed.
struct SealedCodec: RowCodec {
  let vault: KeyVault

  var identity: ObjectIdentifier? { ObjectIdentifier(vault) }

  func open(_ stored: SQLValue, of row: SettingRow, path: String) throws -> Data {
    let envelope = Self.envelope(of: row, path)
    guard case .blob(let sealed) = stored else {
      throw SecureValueError.tampered(envelope.place)
    }
    let id = try envelope.keyID(of: sealed)
    guard let key = try vault.key(id) else {
      // Not the wrong key, but none: where it should be is of more help.
      if let file = vault.file, file.stamp == nil {
        throw SecureValueError.keyMissing(path: file.path)
      }
      throw SecureValueError.wrongKey(
        envelope.place, sealedWith: SecretKey.name(id), known: vault.names)
    }
    return try envelope.open(sealed, with: key)
  }

  func seal(
    _ clear: Data, for row: SettingRow, path: String, on connection: BoutiqueConnection
  ) throws -> SQLValue {
    let key = try vault.sealingKey {
      try connection.queryOne("SELECT 1 FROM stored_secret LIMIT 1") != nil
    }
    return .blob(try Self.envelope(of: row, path).seal(clear, with: key))
  }

  static func envelope(of row: SettingRow, _ path: String) -> Envelope {
    switch row {
    case .secret(let service, let group, let key):
      Envelope(service: service, group: group, key: key, path: path)
    case .value(let key): Envelope(service: "", group: "", key: key, path: path)
    }
  }
}
