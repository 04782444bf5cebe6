public import BoutiqueDB
public import Foundation

extension Blackbird {
  /// What SQLite, or the engine around it, had against a statement or a file.
  public struct SQLiteError: Swift.Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The result code of SQLite, such as 19 for a constraint.
    public var code: Int32
    /// The extended result code, such as 2067 for a unique constraint.
    public var extendedCode: Int32
    /// Where in the statement the error is, in bytes of UTF-8, where SQLite tells.
    public var offset: Int?
    /// What happened, to which file, who is in the way and what to do.
    public var message: String
    /// The engine's error, with its details: who holds a lock, which file was meant.
    public var underlying: BoutiqueError?

    /// Creates an error from its parts.
    public init(
      code: Int32, extendedCode: Int32, offset: Int? = nil, message: String,
      underlying: BoutiqueError? = nil
    ) {
      self.code = code
      self.extendedCode = extendedCode
      self.offset = offset
      self.message = message
      self.underlying = underlying
    }

    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }

    /// The process that held the write lock past the time-out, where that is the error.
    public var lockHolder: LockTimeout.Holder? {
      switch underlying {
      case .lockTimeout(let timeout), .migrationLockTimeout(let timeout): timeout.holder
      default: nil
      }
    }

    /// The table whose unique index or primary key has the values already.
    ///
    /// Nil for other errors, and where the index is over an expression.
    public var uniqueTable: String? { uniqueNames.first.map(\.table) }

    /// The columns that a unique index or a primary key wants to be unique; empty for other errors.
    public var uniqueColumns: [String] { uniqueNames.map(\.column) }

    /// SQLite's "UNIQUE constraint failed: table.column, table.column".
    private var uniqueNames: [(table: String, column: String)] {
      let start = "UNIQUE constraint failed: "
      guard case .sql(let code, let text) = underlying, Self.isUnique(code), text.hasPrefix(start)
      else { return [] }
      let names = text.dropFirst(start.count)
      let end = names.range(of: " (in: ")?.lowerBound ?? names.endIndex
      var found: [(table: String, column: String)] = []
      for name in names[..<end].split(separator: ", ") {
        guard let dot = name.firstIndex(of: ".") else { return [] }
        found.append((String(name[..<dot]), String(name[name.index(after: dot)...])))
      }
      return found
    }

    /// Whether an extended code is one of a unique index, a primary key or a row id.
    static func isUnique(_ code: Int) -> Bool { [2067, 1555, 2579].contains(code) }
  }
}

extension Blackbird.SQLiteError {
  /// Describes an error of the engine in SQLite's terms.
  init(_ error: BoutiqueError) {
    let extended: Int32 =
      switch error {
      case .sql(let code, _): Int32(truncatingIfNeeded: code)
      case .lockTimeout, .migrationLockTimeout: 5
      case .writeTimedOut: 9
      case .readOnly, .writeInRead: 8
      case .inputOutput: 10
      case .corrupt: 11
      case .diskFull: 13
      case .permissionDenied, .directoryMissing, .fileMissing, .invalidPath: 14
      case .notADatabase: 26
      case .closed, .connectionEnded, .invalidStatement, .usedAcrossFork: 21
      case .statementRefused: 23
      default: 1
      }
    self.init(
      code: extended & 0xff, extendedCode: extended, offset: Self.offset(of: error),
      message: Self.message(of: error), underlying: error)
  }

  /// The engine's text, with what users of this product have in place of the engine's calls.
  private static func message(of error: BoutiqueError) -> String {
    guard case .statementRefused(let sql, let reason) = error else { return error.description }
    if reason.hasPrefix("transactions are begun") {
      return "a transaction is a closure here: use transaction { core in … } of the database, or "
        + "core.transaction { core in … } inside one, in place of: \(sql)"
    }
    if reason.hasPrefix("use savepoint") {
      return
        "use core.transaction { core in … }, which can be undone by itself, in place of: \(sql)"
    }
    if reason.hasPrefix("attached databases") {
      return
        "another file cannot be attached, since attached databases take no part in sharing; open it "
        + "as a Blackbird.Database of its own and write its rows here, in place of: \(sql)"
    }
    return error.description
  }

  /// Whether the message ends with the statement already.
  var namesStatement: Bool {
    switch underlying {
    case .sql(_, let text): text.contains(" (in: ")
    case .statementRefused, .invalidStatement, .writeInRead: true
    default: false
    }
  }

  /// The engine ends the text of an error in a statement with its place.
  private static func offset(of error: BoutiqueError) -> Int? {
    guard case .sql(_, let text) = error, text.hasSuffix(")"),
      let mark = text.range(of: " (at byte ", options: .backwards)
    else { return nil }
    return Int(text[mark.upperBound...].dropLast())
  }
}
