import BoutiqueDB
import Foundation

/// What the page lists.
@BoutiqueTable
struct Note: Equatable, Codable {
  let id: Int
  var title: String
}

extension BoutiqueMigrationPlan {
  static let notes = BoutiqueMigrationPlan {
    BoutiqueMigration("notes") { conn in try Note.createTable(ifNotExists: true).execute(conn) }
  }
}
