import BoutiqueDB
import Foundation

/// Returns the rows of a settings file that nobody need have open.
func readRows(_ path: String) throws -> [String: String] {
  let rows = try BoutiqueDB.readOnce(path: path) { connection in
    try connection.query("SELECT key, value FROM stored_value").map {
      (try $0.decode(0, as: String.self), try $0.decode(1, as: String.self))
    }
  }
  return Dictionary(uniqueKeysWithValues: rows ?? [])
}
