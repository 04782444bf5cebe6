import FaultPoints
import Foundation
import Glibc
import SQLiteConnection
import SharedFileCoordination
public import StructuredQueries

/// The connection that a `read`, `write`, `observe` or migration closure works with.
///
/// It is one transaction: all of its statements see one state of the database, and those of a write are
/// committed together or not at all. It is usable only inside the closure and on the closure's thread;
/// afterwards every call throws ``BoutiqueError/connectionEnded``.
public final class BoutiqueConnection {
  enum Role {
    case read
    case write
  }

  /// The connection itself: what statements are executed on.
  public var connection: BoutiqueConnection { self }

  let sqlite: Connection
  private let role: Role
  private let thread = pthread_self()
  private let fork: ForkGuard
  private let cancellation: CancellationFlag?
  /// Gathers what the statements change; nil in a read.
  private let collector: ChangeCollector?
  /// What the statements read, when somebody wants to know.
  private let recorder: RegionRecorder?
  /// What is known of the snapshot, in the read of a live query.
  let observed: ObservedRead?
  private var hasEnded = false
  /// The error that ended the transaction from inside (a full disk, a rollback by a conflict
  /// clause).
  ///
  /// All that follows fails with it, and so does the commit: half a closure is never committed.
  private(set) var fatalError: BoutiqueError?
  private var savepointDepth = 0
  /// Called before a table of the database is altered.
  var willAlter: ((_ table: String) throws -> Void)?
  #if FAULT_POINTS
    /// What a known bug does where SQLite refuses a statement for others' commits; see `Sabotage.noLease`.
    var goOnAfterConflict: (() throws -> Void)?
  #endif
  /// Whether this is the library's own work.
  private let mayTouchInternalTables: Bool
  /// Whether the transaction holds other writes' work as well, which this one must not take along.
  private let isShared: Bool
  /// Whether something was done whose effect is not confined to rows: the schema, a setting of the
  /// transaction.
  private(set) var hasSpecialEffects = false
  /// Whether something was made that may end a transaction by itself.
  private(set) var madeRollback = false
  /// Texts that were run in place of others, see `ConflictText`.
  private var replacedTexts: [(run: String, given: String)] = []

  init(
    sqlite: Connection, role: Role, collector: ChangeCollector? = nil,
    recorder: RegionRecorder? = nil, observed: ObservedRead? = nil,
    cancellation: CancellationFlag? = nil, mayTouchInternalTables: Bool = false,
    isShared: Bool = false, fork: ForkGuard = ForkGuard()
  ) {
    self.fork = fork
    self.sqlite = sqlite
    self.role = role
    self.collector = collector
    self.cancellation = cancellation
    self.mayTouchInternalTables = mayTouchInternalTables
    self.isShared = isShared
    self.recorder = recorder
    self.observed = observed
  }

  /// Ends the connection's life; whatever escaped from the closure gets an error from now on.
  func end() {
    hasEnded = true
    sqlite.resetBusyStatements()
  }

  // MARK: Statements

  /// Runs one statement to its end.
  ///
  /// - Parameters:
  ///   - sql: one statement, with `?` for each argument.
  ///   - arguments: the values, in order; nil is NULL.
  /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed; 0 for others.
  /// - Throws: ``BoutiqueError``.
  @discardableResult
  public func execute(_ sql: String, _ arguments: (any QueryBindable)?...) throws -> Int {
    try execute(sql, arguments: arguments)
  }

  /// Runs one statement to its end with a list of arguments.
  @discardableResult
  public func execute(_ sql: String, arguments: [(any QueryBindable)?]) throws -> Int {
    #if FAULT_POINTS
      if Sabotage.noLease.isOn { return try executeDespiteConflict(sql, arguments) }
    #endif
    return try prepare(sql).run(arguments: arguments)
  }

  /// Runs one statement to its end with named arguments (`:name`, `@name` or `$name` in the SQL).
  @discardableResult
  public func execute(_ sql: String, named arguments: [String: (any QueryBindable)?]) throws -> Int
  {
    try prepare(sql).run(named: arguments)
  }

  /// Runs several statements, separated by semicolons, in order.
  ///
  /// - Throws: ``BoutiqueError`` of the first statement that fails; the ones before it stay part of the
  ///   transaction.
  public func executeScript(_ sql: String) throws {
    try guardUse(of: sql)
    do {
      try underPolicy {
        try sqlite.executeScript(confined(sql) ?? sql) { statement in
          // Nobody gives a script values; SQLite would quietly take NULL.
          guard statement.parameterCount == 0 else {
            throw BoutiqueError.invalidStatement(
              sql: statement.sql, reason: "a script has no arguments, but this has parameters")
          }
          try self.admit(statement)
          self.recorder?.note(statement.readSet)
        }
      }
    } catch {
      throw refusal(error, sql) ?? failure(error)
    }
  }

  /// Returns all rows of a statement.
  public func query(_ sql: String, _ arguments: (any QueryBindable)?...) throws -> [Row] {
    try query(sql, arguments: arguments)
  }

  /// Returns all rows of a statement with a list of arguments.
  public func query(_ sql: String, arguments: [(any QueryBindable)?]) throws -> [Row] {
    try prepare(sql).rows(arguments: arguments)
  }

  /// Returns all rows of a statement with named arguments.
  public func query(_ sql: String, named arguments: [String: (any QueryBindable)?]) throws -> [Row]
  {
    var rows: [Row] = []
    try prepare(sql).forEachRow(named: arguments) { rows.append($0) }
    return rows
  }

  /// Returns the first row of a statement, or nil when there is none.
  public func queryOne(_ sql: String, _ arguments: (any QueryBindable)?...) throws -> Row? {
    try prepare(sql).first(arguments: arguments)
  }

  /// Calls `body` with each row as it is read; no list is made.
  ///
  /// `body` may run other statements. An error it throws ends the reading.
  public func forEachRow(
    _ sql: String, arguments: [(any QueryBindable)?] = [], _ body: (Row) throws -> Void
  ) throws {
    try prepare(sql).forEachRow(arguments: arguments, body)
  }

  /// Returns the names of the columns that a statement yields; empty for one that yields none.
  public func columnNames(of sql: String) throws -> [String] {
    let statement = try statement(sql)
    defer { statement.reset() }
    return statement.columnNames
  }

  /// Returns a statement to run many times, without the look-up that `execute` and `query` do.
  public func prepare(_ sql: String) throws -> PreparedQuery {
    PreparedQuery(try statement(sql), on: self)
  }

  /// The row id of the last inserted row; 0 before the first.
  public var lastInsertedRowID: Int64 { sqlite.lastInsertedRowID }

  /// Throws `CancellationError` when the task that called `read` or `write` has been cancelled, and
  /// ``BoutiqueError/writeTimedOut(_:)`` when the write's time is over.
  ///
  /// Statements are interrupted by themselves; this is for a long computation between them.
  public func checkCancellation() throws {
    if let stop = cancellation?.stop { throw stop }
  }

  // MARK: Savepoints

  /// Runs `body` in a savepoint: when it throws, what it changed is undone and the transaction goes on.
  ///
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, after the undoing.
  @discardableResult
  public func savepoint<R>(_ body: () throws -> R) throws -> R {
    try guardUse(of: "SAVEPOINT")
    guard role == .write else { return try body() }
    savepointDepth += 1
    defer { savepointDepth -= 1 }
    let name = "boutique_\(savepointDepth)"
    let mark = collector?.mark()
    try run { () throws(SQLiteError) in try Savepoint.begin(name, on: sqlite) }
    do {
      let result = try body()
      if let fatalError { throw fatalError }
      try run { () throws(SQLiteError) in try Savepoint.release(name, on: sqlite) }
      return result
    } catch {
      // A full disk or a cancellation has already undone the whole transaction, savepoint included.
      if sqlite.isInTransaction {
        sqlite.resetBusyStatements()
        try run { () throws(SQLiteError) in try Savepoint.rollback(name, on: sqlite) }
        if let mark { collector?.rollBack(to: mark) }
      }
      throw error
    }
  }

  // MARK: Guards

  /// Returns a statement ready to be bound.
  ///
  /// - Parameter number: what stands for the text, see `SQLTemplate`; 0 when nothing does.
  func statement(_ sql: String, number: Int = 0) throws -> PreparedStatement {
    try guardUse(of: sql)
    guard let known = sqlite.cached(sql, number: number) else { return try compiled(sql) }
    if isShared, known.mentionsRollback {
      known.reset()
      return try compiled(sql)
    }
    return try admitted(known)
  }

  private func compiled(_ sql: String) throws -> PreparedStatement {
    let statement: PreparedStatement
    do {
      let prepared = try underPolicy { try sqlite.prepare(sql) }
      if isShared, prepared.mentionsRollback, let text = confined(sql) {
        prepared.reset()
        statement = try underPolicy { try sqlite.prepare(text) }
      } else {
        statement = prepared
      }
    } catch {
      throw refusal(error, sql) ?? failure(error)
    }
    return try admitted(statement)
  }

  private func admitted(_ statement: PreparedStatement) throws -> PreparedStatement {
    do {
      try admit(statement)
    } catch {
      statement.reset()
      throw error
    }
    return statement
  }

  /// Returns what to run instead, where a text would end the shared transaction; nil where it would not.
  private func confined(_ sql: String) -> String? {
    guard isShared, let text = ConflictText.abortingInsteadOfRollback(sql) else { return nil }
    replacedTexts.append((run: text, given: sql))
    return text
  }

  /// Compiles something of the closure's: a refused pragma does not even get that far.
  private func underPolicy<R>(_ body: () throws -> R) rethrows -> R {
    sqlite.setPragmaPolicy { StatementPolicy.admits(pragma: $0, argument: $1) }
    defer { sqlite.setPragmaPolicy(nil) }
    return try body()
  }

  private func refusal(_ error: any Error, _ sql: String) -> BoutiqueError? {
    guard let error = error as? SQLiteError, error.code.primary == .auth else { return nil }
    let sql = error.sql ?? sql
    return .statementRefused(sql: sql, reason: StatementPolicy.pragmaRefusal(in: sql))
  }

  /// Throws in a child made by fork inside the closure.
  ///
  /// - Parameter thoroughly: whether to ask the kernel, too; once for each transaction is enough.
  func checkProcess(thoroughly: Bool = true) throws {
    guard thoroughly ? fork.isSameProcess : fork.isSameGeneration else {
      throw BoutiqueError.usedAcrossFork(path: sqlite.path)
    }
  }

  func guardUse(of sql: String) throws {
    // For each statement; the number of the process is looked at before the commit.
    guard fork.isSameGeneration else { throw BoutiqueError.usedAcrossFork(path: sqlite.path) }
    if hasEnded || pthread_equal(thread, pthread_self()) == 0 {
      throw BoutiqueError.connectionEnded
    }
    if let fatalError { throw fatalError }
  }

  /// Decides whether a closure may run a statement, and notes what it will read and change.
  private func admit(_ statement: PreparedStatement) throws {
    // The usual cases, which the rest comes to the same end with.
    if statement.isReadOnly {
      if statement.isPlain { return }
    } else if statement.isApproved, role == .write, !isShared, collector?.notesWrites != true {
      return
    }
    if !statement.isReadOnly {
      if role == .read { throw BoutiqueError.writeInRead(sql: statement.sql) }
      if !mayTouchInternalTables, !statement.isApproved {
        if let reason = StatementPolicy.internalTableRefusal(of: statement.effects) {
          throw BoutiqueError.statementRefused(sql: statement.sql, reason: reason)
        }
        statement.isApproved = statement.isPlain
      }
      // Such a statement would not be interrupted any more.
      if isShared, let stop = cancellation?.stop { throw stop }
      if let collector, collector.notesWrites {
        collector.noteWrites(of: statement.effects.writtenTables)
      }
    }
    if !statement.isPlain {
      if let reason = StatementPolicy.refusal(of: statement.effects) {
        throw BoutiqueError.statementRefused(sql: statement.sql, reason: reason)
      }
      collector?.noteSchemaChanges(of: statement.effects)
      for change in statement.effects.schemaChanges
      where change.kind == .alterTable && change.databaseName == "main" {
        try willAlter?(change.objectName)
      }
      if !StatementPolicy.isConfinedToRows(statement.effects) { hasSpecialEffects = true }
      if statement.mentionsRollback { madeRollback = true }
    }
  }

  /// Whether somebody wants to know the values of a statement's parameters before it runs.
  var recordsValues: Bool { recorder != nil }

  /// Notes that a statement is about to run with these values.
  func willRun(_ statement: PreparedStatement, values: [SQLValue]) {
    recorder?.willRun(statement, values: values)
  }

  /// Runs a step of SQLite and keeps the first error that ended the transaction.
  func run<R>(_ body: () throws(SQLiteError) -> R) throws -> R {
    do {
      return try body()
    } catch {
      throw failure(error)
    }
  }

  func failure(_ error: any Error) -> any Error {
    guard var error = error as? SQLiteError else { return error }
    if error.code.primary == .interrupt, let stop = cancellation?.stop {
      if role == .write && !sqlite.isInTransaction {
        fatalError = .sql(code: Int(error.code.rawValue), message: "interrupted by cancellation")
      }
      return stop
    }
    let endsAll = restoreText(of: &error)
    let translated = BoutiqueError(error)
    if role == .write, endsAll || !sqlite.isInTransaction, fatalError == nil {
      fatalError = translated
    }
    return translated
  }

  /// Puts the text that was given in the place of the one that was run.
  ///
  /// - Returns: whether the error is one that would have ended the transaction.
  private func restoreText(of error: inout SQLiteError) -> Bool {
    guard error.code.primary == .constraint, let sql = error.sql else { return false }
    for (run, given) in replacedTexts {
      guard let place = run.range(of: sql) else { continue }
      // Both have the same bytes but for the word.
      let start = run.utf8.distance(from: run.startIndex, to: place.lowerBound)
      let part = Array(given.utf8).dropFirst(start).prefix(sql.utf8.count)
      let text = String(decoding: part, as: UTF8.self)
      guard text != sql else { continue }
      error.sql = text
      return true
    }
    return false
  }
}
