import BoutiqueDB
import Synchronization

/// The texts of a model's statements; each is made once.
final class ModelStatements: Sendable {
  let table: String
  /// `SELECT` with every column, in order, without a condition.
  let selectAll: String
  let count: String
  /// `WHERE` for the whole primary key.
  let whereKey: String
  /// `SELECT` of the row with a primary key.
  let selectByKey: RepeatedSQL
  let deleteByKey: RepeatedSQL
  /// Inserts a row, or sets all of its columns.
  let upsert: RepeatedSQL

  private let columns: [String]
  private let key: [Int]
  private let updates = Mutex<[[Int]: RepeatedSQL]>([:])

  init(table: String, columns: [String], primaryKey: [Int]) {
    self.table = table
    self.columns = columns
    key = primaryKey
    let quoted = columns.map { SQLName.quoted($0) }
    let name = SQLName.quoted(table)
    let list = quoted.joined(separator: ", ")
    selectAll = "SELECT \(list) FROM \(name)"
    count = "SELECT count(*) FROM \(name)"
    whereKey = "WHERE " + primaryKey.map { "\(quoted[$0]) = ?" }.joined(separator: " AND ")
    selectByKey = RepeatedSQL("\(selectAll) \(whereKey)")
    deleteByKey = RepeatedSQL("DELETE FROM \(name) \(whereKey)")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    let others = columns.indices.filter { !primaryKey.contains($0) }
    let target = primaryKey.map { quoted[$0] }.joined(separator: ", ")
    let sets = others.map { "\(quoted[$0]) = excluded.\(quoted[$0])" }.joined(separator: ", ")
    upsert = RepeatedSQL(
      "INSERT INTO \(name) (\(list)) VALUES (\(marks)) ON CONFLICT (\(target)) "
        + (sets.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(sets)"))
  }

  /// Returns the statement that sets some columns of the row with a primary key.
  func update(_ changed: [Int]) -> RepeatedSQL {
    if let known = updates.withLock({ $0[changed] }) { return known }
    let sets = changed.map { "\(SQLName.quoted(columns[$0])) = ?" }.joined(separator: ", ")
    let text = "UPDATE \(SQLName.quoted(table)) SET \(sets) \(whereKey)"
    return updates.withLock { updates in
      if let known = updates[changed] { return known }
      let made = RepeatedSQL(text)
      updates[changed] = made
      return made
    }
  }
}

/// Names of tables and columns in SQL.
enum SQLName {
  /// Returns a name in backquotes.
  ///
  /// Double quotes would make SQLite take the name of a column that is missing for a text.
  static func quoted(_ name: String) -> String {
    "`\(name.doubling("`"))`"
  }
}
