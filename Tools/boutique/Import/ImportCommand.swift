import BoutiqueDB
import CommandLineSupport

/// `boutique import`: inserts the rows of a file, all or nothing or in batches.
///
/// 1. The file is opened and its header read; for `--create` all of a regular file is read once to
///    find types that fit, of a pipe the first thousand rows.
/// 2. The database is opened; a table that should be there is looked up, and the header's names are
///    compared with its columns before anything is written.
/// 3. One transaction reads the file row by row and inserts; or, with `--batch`, rows are read first
///    and the write lock is taken only to insert them.
///
/// Killed at any point: SQLite undoes the transaction that was open; committed batches stay.
enum ImportCommand: Subcommand {
  private static let sampleSize = 1000

  static let initialSettings = ImportSettings()
  static let syntax = ImportSettings.syntax

  static func run(
    _ settings: ImportSettings, _ operands: [String], _ context: CommandContext
  ) async throws -> ExitStatus {
    let file = try ImportFile(path: operands[2], settings: settings)
    do {
      let session = try ImportSession(file) { totalBytes in
        settings.isQuiet
          ? nil
          : ProgressLine(
            unit: "row", totalBytes: totalBytes, style: context.errorStyle,
            write: { context.complain($0) })
      }
      defer { session.abandon() }
      let plan = ImportPlan(
        tableName: operands[1],
        creation: settings.creates ? try session.inferTypes(sample: sampleSize) : nil,
        isSampled: session.fileSize == nil)
      try await settings.common.withDatabase(
        operands[0], for: settings.creates ? .creating : .writing, command: "import"
      ) { database in
        try await insert(session, plan, file, into: database)
      }
      let summary = session.finish()
      if !settings.isQuiet { try context.output.write(summary + "\n") }
    } catch let malformed as MalformedInput {
      throw file.failure(malformed, consequence: "nothing was imported")
    }
    return .success
  }

  private static func insert(
    _ session: ImportSession, _ plan: ImportPlan, _ file: ImportFile, into database: BoutiqueDB
  ) async throws {
    if plan.creation == nil {
      guard
        let table = try await database.read({ connection in
          try TargetTable.find(plan.tableName, on: connection)
        })
      else { throw plan.missing }
      try session.adopt(table)
    }
    guard let batch = file.settings.batch else {
      try await database.write { connection in
        try session.insertAll(plan, on: connection)
      }
      return
    }
    do {
      try await insert(session, plan, inBatchesOf: batch, into: database)
    } catch let malformed as MalformedInput {
      throw file.failure(malformed, consequence: Self.consequence(session.count))
    }
  }

  private static func insert(
    _ session: ImportSession, _ plan: ImportPlan, inBatchesOf size: Int, into database: BoutiqueDB
  ) async throws {
    var rows: [ImportRow]
    repeat {
      rows = try session.take(size, plan)
      // An empty file still makes its table.
      if rows.isEmpty, session.count > 0 || plan.creation == nil { return }
      let batch = rows
      try await database.write { connection in
        try session.insert(batch, plan, on: connection)
      }
      session.committed(batch)
    } while rows.count == size
  }

  private static func consequence(_ count: Int) -> String {
    count == 0
      ? "nothing was imported"
      : "the \(count) row\(count == 1 ? "" : "s") of the batches before it are imported, no other"
  }
}
