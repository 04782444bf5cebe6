import BoutiqueDB
import CommandLineSupport

/// Which table an import fills, and whether it has to be made first.
struct ImportPlan: Sendable {
  let tableName: String

  /// The columns of the table that is to be made; nil when the table is there.
  let creation: TypeInference?

  /// Whether rows may come that ``creation`` has not seen.
  let isSampled: Bool

  /// The table inside the transaction that fills it, made in the first one if asked for.
  func table(isFirst: Bool, on connection: BoutiqueConnection) throws -> TargetTable {
    let found = try TargetTable.find(tableName, on: connection)
    if let creation, isFirst {
      if found != nil { throw alreadyThere }
      return try TargetTable.create(tableName, columns: creation.columns, on: connection)
    }
    guard let found else { throw missing }
    return found
  }

  /// Checks a row that was not looked at when the columns' types were chosen.
  func check(_ row: ImportRow) throws(MalformedInput) {
    guard isSampled, let creation else { return }
    for (index, name) in row.columns.enumerated()
    where !creation.accepts(row.values[index], for: name) {
      throw row.malformed(
        index,
        "this value does not fit column “\(name)” as the first rows have it; make the table yourself "
          + "and leave --create out")
    }
  }

  var missing: CommandFailure {
    CommandFailure("there is no table “\(tableName)”; --create makes one")
  }

  var alreadyThere: CommandFailure {
    CommandFailure("there is a table “\(tableName)” already; leave --create out to add rows to it")
  }
}
