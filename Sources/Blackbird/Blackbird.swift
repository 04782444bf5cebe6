public import Foundation

/// The namespace of what is not a model: ``Database``, ``Value``, ``Row``.
public enum Blackbird {
  /// Errors that are a caller's own decision.
  public enum Error: Swift.Error, Sendable {
    /// Thrown inside a cancellable transaction: undoes it without being an error of the call.
    case cancelTransaction
  }

  /// How a cancellable transaction ended.
  public enum TransactionResult<R: Sendable>: Sendable {
    /// Everything was undone.
    case rolledBack
    /// Everything was committed; with what the closure returned.
    case committed(R)
  }

  /// Values by parameter or column name.
  public typealias Arguments = [String: Value]
  /// Primary keys, each with one value for each of its columns.
  public typealias PrimaryKeyValues = Set<[Value]>
  /// Names of columns.
  public typealias ColumnNames = Set<String>
  /// A row by column name.
  public typealias Row = [String: Value]
}

extension Blackbird.Error: CustomStringConvertible, LocalizedError {
  /// What was decided, and where it has no meaning.
  public var description: String {
    "the transaction was undone by cancelTransaction; cancellableTransaction returns that as rolledBack"
  }
  /// The same text as ``description``.
  public var errorDescription: String? { description }
}
