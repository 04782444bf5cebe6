import BoutiqueDB

extension RecentChanges {
  /// Returns how many rows a table had before these changes; nil where they do not tell.
  func count(of table: String, on connection: BoutiqueConnection) throws -> Int? {
    var found = 0
    for change in changes {
      guard !change.isEverything, !change.wholeTables.contains(table) else { return nil }
      for row in change.rows where row.table == table {
        switch row.kind {
        case .insert: found -= 1
        case .delete: found += 1
        case .update: break
        }
      }
    }
    let name = SQLName.quoted(table)
    return try connection.queryOne("SELECT count(*) FROM \(name)").map {
      found + (try $0.decode(0))
    }
  }
}
