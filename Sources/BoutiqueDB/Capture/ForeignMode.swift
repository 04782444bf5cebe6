import Foundation
import SQLiteConnection

/// What the database itself says of the capture of foreign commits (see ``ForeignCapture``).
extension ForeignCapture {
  static let modeKey = "foreign_capture"
  static let selectionKey = "foreign_tables"
  static let proofKey = "foreign_proof"
  static let adoptedKey = "foreign_adopted"

  /// Whether foreign commits are described by triggers.
  static func isPrecise(on sqlite: Connection) throws(SQLiteError) -> Bool {
    try meta(modeKey, on: sqlite) == "precise"
  }

  /// The tables that have triggers; nil for all.
  static func selection(on sqlite: Connection) throws(SQLiteError) -> Set<String>? {
    guard let text = try meta(selectionKey, on: sqlite) else { return nil }
    return (try? JSONDecoder().decode(Set<String>.self, from: Data(text.utf8)))
  }

  static func meta(_ key: String, on sqlite: Connection) throws(SQLiteError) -> String? {
    do throws(SQLiteError) {
      let select = try sqlite.prepare("SELECT value FROM boutiquedb_meta WHERE key = ?1")
      defer { select.reset() }
      try select.bind(key, at: 1)
      return try select.step() && !select.isNull(0) ? select.text(0) : nil
    } catch {
      // No such table.
      guard error.code.primary == .error else { throw error }
      return nil
    }
  }
}
