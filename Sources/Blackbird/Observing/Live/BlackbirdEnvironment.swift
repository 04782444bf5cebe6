public import Foundation
import Synchronization

/// Which database live wrappers use that were given none.
///
/// ```swift
/// BlackbirdEnvironment.setDatabase(db)                        // for the whole program
/// BlackbirdEnvironment.$database.withValue(db) { Model() }    // for what is made inside
/// ```
public enum BlackbirdEnvironment {
  /// The database of the task that asks, where one was set with `$database.withValue(_:operation:)`.
  @TaskLocal public static var database: Blackbird.Database?

  private static let fallback = Mutex<Blackbird.Database?>(nil)

  /// Sets the database of the whole program, for tasks that have none of their own; nil takes it away.
  public static func setDatabase(_ database: Blackbird.Database?) {
    fallback.withLock { $0 = database }
  }

  /// The task's database, or else the program's.
  public static var current: Blackbird.Database? {
    database ?? fallback.withLock { $0 }
  }
}

/// Why a live wrapper shows nothing.
public enum BlackbirdLiveError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
  /// It was given no database, and ``BlackbirdEnvironment`` has none.
  case noDatabase

  /// What is missing and how to give it.
  public var description: String {
    "there is no database: give one to the wrapper, or set BlackbirdEnvironment's before it is read"
  }
  /// The same text as ``description``.
  public var errorDescription: String? { description }
}
