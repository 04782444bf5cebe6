public import BoutiqueDB
public import Foundation
import Glibc

extension Blackbird.Database {
  /// What can go wrong with a database.
  ///
  /// A cancelled task gets Swift's `CancellationError`.
  public enum Error: Swift.Error, Sendable {
    /// This process has the file open already.
    ///
    /// Other processes may; inside one, all parts share one instance.
    case anotherInstanceExistsWithPath(path: String)
    /// The database cannot be deleted while processes have it open; a process of no label uses SQLite
    /// without this library.
    case databaseIsOpen(path: String, users: [DatabaseStatus.Member])
    /// An `…Isolated` call was given another database than the one its `core` belongs to.
    case databaseIsNotThatOfCore(path: String?, corePath: String?)
    /// The file cannot be opened or made.
    case cannotOpenDatabaseAtPath(path: String, error: Blackbird.SQLiteError)
    /// The place or the configuration cannot serve a shared database.
    case unsupportedConfigurationAtPath(path: String, error: Blackbird.SQLiteError)
    /// SQLite does not understand the statement, or the engine does not let it through.
    case queryError(query: String, error: Blackbird.SQLiteError)
    /// The backup was not made.
    case backupError(error: Blackbird.SQLiteError)
    /// A parameter has no value, or a value has no parameter.
    case queryArgumentNameError(query: String, name: String)
    /// The number of values is wrong, or one of them cannot be stored.
    case queryArgumentValueError(query: String, description: String)
    /// The statement was understood, but failed while it ran: a constraint, a lock, the disk.
    case queryExecutionError(query: String, error: Blackbird.SQLiteError)
    /// A stored value does not fit the column's type.
    case queryResultValueError(query: String, column: String)
    /// The values of a unique index or of the primary key are there already.
    ///
    /// ``Blackbird/SQLiteError/uniqueTable`` and ``Blackbird/SQLiteError/uniqueColumns`` tell which.
    case uniqueConstraintFailed(error: Blackbird.SQLiteError)
    /// The database was closed.
    case databaseIsClosed
  }
}

extension Blackbird.Database.Error: CustomStringConvertible, LocalizedError {
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  /// What happened, to which file or statement, who is in the way and what to do.
  public var description: String {
    switch self {
    case .anotherInstanceExistsWithPath(let path):
      "this process has \(path) open already; use that instance, or close it first"
    case .databaseIsOpen(let path, let users):
      "\(path) was not deleted: \(users.map(Self.name).joined(separator: ", ")) "
        + "\(users.count == 1 ? "has" : "have") it open; close it there first"
    case .databaseIsNotThatOfCore(let path, let corePath):
      "the call names the database \(path ?? "in memory"), but its core belongs to a transaction of "
        + "\(corePath ?? "one in memory"); give it core.database, or begin a transaction on the other"
    case .cannotOpenDatabaseAtPath(_, let error), .unsupportedConfigurationAtPath(_, let error):
      error.message
    case .queryError(let query, let error), .queryExecutionError(let query, let error):
      Self.text(error.message, query)
    case .backupError(let error): "the backup was not made: \(error.message)"
    case .queryArgumentNameError(let query, let name):
      "the parameter '\(name)' and the values given do not fit in: \(query)"
    case .queryArgumentValueError(let query, let description):
      Self.text(description, query)
    case .queryResultValueError(let query, let column):
      "the value in column '\(column)' does not fit its type in: \(query)"
    case .uniqueConstraintFailed(let error): error.message
    case .databaseIsClosed: "the database is closed"
    }
  }

  private static func name(_ user: DatabaseStatus.Member) -> String {
    var text = "pid \(user.pid)"
    if user.pid == getpid() { text += " (this process)" }
    if !user.label.isEmpty { text += " “\(user.label)”" }
    if user.pid != getpid(), !user.command.isEmpty { text += " (\(user.command))" }
    return text
  }

  private static func text(_ message: String, _ query: String) -> String {
    query.isEmpty || message.contains(query) ? message : "\(message) in: \(query)"
  }

  /// Puts an error of the engine into this type.
  ///
  /// - Parameter query: the statement that was asked for, where one was.
  init(_ error: BoutiqueError, query: String = "") {
    let details = Blackbird.SQLiteError(error)
    switch error {
    case .closed: self = .databaseIsClosed
    case .sql(let code, _) where Blackbird.SQLiteError.isUnique(code):
      self = .uniqueConstraintFailed(error: details)
    case .sql where details.code == 1, .statementRefused:
      self = .queryError(query: query, error: details)
    case .invalidStatement(_, let reason):
      // Either names the parameter last.
      if let name = Self.parameter(in: reason) {
        self = .queryArgumentNameError(query: query, name: name)
      } else if reason.contains("argument") {
        self = .queryArgumentValueError(query: query, description: reason)
      } else {
        self = .queryError(query: query, error: details)
      }
    case .bindingFailed(let failure):
      self = .queryArgumentValueError(query: query, description: failure.description)
    case .decodingFailed(let failure):
      self = .queryResultValueError(query: query, column: failure.column ?? "")
    case .unsupportedFileSystem(let path, _):
      self = .unsupportedConfigurationAtPath(path: path, error: details)
    default: self = .queryExecutionError(query: query, error: details)
    }
  }

  private static func parameter(in reason: String) -> String? {
    let missing = "no value given for "
    if reason.hasPrefix(missing) { return String(reason.dropFirst(missing.count)) }
    let unknown = "no parameter is named '"
    guard reason.hasPrefix(unknown) else { return nil }
    return String(reason.dropFirst(unknown.count).dropLast())
  }

  /// Puts an error of opening into this type.
  static func opening(_ error: any Swift.Error, path: String) -> any Swift.Error {
    guard let error = error as? BoutiqueError else { return error }
    let details = Blackbird.SQLiteError(error)
    switch error {
    case .closed: return Self.databaseIsClosed
    case .unsupportedFileSystem, .invalidConfiguration, .databaseNewer, .migrationOrder:
      return Self.unsupportedConfigurationAtPath(path: path, error: details)
    default: return Self.cannotOpenDatabaseAtPath(path: path, error: details)
    }
  }

  /// Runs `body` and puts errors of the engine into this type; others stay what they are.
  static func translating<R>(_ query: String = "", _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as BoutiqueError {
      throw Self(error, query: query)
    }
  }

  /// Runs `body` and puts errors of the engine into this type; others stay what they are.
  static func translating<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async throws -> R {
    do {
      return try await body()
    } catch let error as BoutiqueError {
      throw Self(error)
    }
  }
}
