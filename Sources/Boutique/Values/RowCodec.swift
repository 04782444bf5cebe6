import BoutiqueDB
import Foundation

/// How the clear form of a value and what is stored in its row become each other.
protocol RowCodec: Sendable {
  /// Tells codecs apart that give different clear forms of one row.
  var identity: ObjectIdentifier? { get }

  /// Returns the clear form.
  ///
  /// - Parameter path: the database, for messages.
  func open(_ stored: SQLValue, of row: SettingRow, path: String) throws -> Data

  /// Returns what to store, inside the transaction that stores it.
  func seal(
    _ clear: Data, for row: SettingRow, path: String, on connection: BoutiqueConnection
  ) throws -> SQLValue
}

/// Stores the JSON as text.
struct PlainCodec: RowCodec {
  var identity: ObjectIdentifier? { nil }

  func open(_ stored: SQLValue, of row: SettingRow, path: String) throws -> Data {
    guard case .text(let text) = stored else {
      // Only where somebody else made the table.
      throw StoredValueError.undecodable(
        key: row.key, path: path, type: "text", message: "the column holds something else")
    }
    return Data(text.utf8)
  }

  func seal(
    _ clear: Data, for row: SettingRow, path: String, on connection: BoutiqueConnection
  ) throws -> SQLValue { .text(String(decoding: clear, as: UTF8.self)) }
}
