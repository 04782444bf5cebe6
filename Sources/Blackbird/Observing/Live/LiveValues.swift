import Synchronization

extension Blackbird {
  /// The values of something that is read over time: the first at once, then one for each change.
  ///
  /// Values equal to the last one are left out. A loop that is slow gets the newest state next. An error of a
  /// read is thrown by `next()`; an iterator that is kept can be asked again and goes on. Every iterator is a
  /// subscription of its own, which ends with it.
  public struct LiveValues<Value: Sendable>: AsyncSequence, Sendable {
    /// What the sequence is of.
    public typealias Element = Value
    /// What iterating can throw.
    public typealias Failure = any Swift.Error

    let plan: LiveQueryPlan<Value>
    let database: Database

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(plan, database) }

    /// One subscription.
    public struct Iterator: AsyncIteratorProtocol {
      private let signal: LiveSignal
      private let subscription: ChangeSubscription
      private let plan: LiveQueryPlan<Value>
      private let database: Database
      private var last: Value?
      private var mustRead = false

      init(_ plan: LiveQueryPlan<Value>, _ database: Database) {
        self.plan = plan
        self.database = database
        signal = LiveSignal(plan.scopes)
        subscription = ChangeSubscription(signal, of: database)
      }

      /// Returns the next value, or nil when the task is cancelled.
      ///
      /// - Throws: what the read throws, or ``Database/Error`` when the database was closed or replaced.
      public mutating func next() async throws -> Value? { try await next(isolation: nil) }

      /// Returns the next value, or nil when the task is cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(any Swift.Error) -> Value? {
        while true {
          // What could not be read is still to be read.
          if mustRead { signal.request() }
          switch await signal.next() {
          case .cancelled: return nil
          case .end(let error): throw error
          case .read:
            mustRead = true
            let value: Value
            do {
              value = try await plan.read(database)
            } catch {
              if Task.isCancelled { return nil }
              mustRead = error.mayPass
              throw error
            }
            mustRead = false
            if let last, areEqualResults(last, value) { continue }
            last = value
            return value
          }
        }
      }
    }
  }
}

extension BlackbirdModel {
  /// Observes this instance's row: its values over time, nil while there is no such row.
  ///
  /// ```swift
  /// for try await now in post.observe(in: db) { show(now) }
  /// ```
  ///
  /// - Parameter columns: the columns whose changes matter; empty for all.
  /// - Throws: ``BlackbirdModelError`` where the key's value cannot be stored.
  public func observe(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath] = []
  ) -> Blackbird.LiveValues<Self?> {
    let key = Result { try primaryKeyValues() }
    return Blackbird.LiveValues(
      plan: .row(of: Self.self, key: key, columns: columns), database: database)
  }

  /// Observes what a closure reads: its results over time.
  ///
  /// ```swift
  /// for try await posts in Post.observe(in: db, { try await Post.read(from: $0) }) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - columns: the columns on which the result depends; empty for all.
  ///   - tables: names of further tables on which it depends.
  ///   - read: reads the value.
  public static func observe<Result: Sendable>(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath] = [],
    tables: [String] = [],
    _ read: @escaping @Sendable (Blackbird.Database) async throws -> Result
  ) -> Blackbird.LiveValues<Result> {
    let scope = LiveSignal.Scope(table: tableName, filter: changeFilter(columns: columns))
    return Blackbird.LiveValues(
      plan: LiveQueryPlan(scopes: [scope] + tables.map { .init(table: $0) }, read: read),
      database: database)
  }
}
