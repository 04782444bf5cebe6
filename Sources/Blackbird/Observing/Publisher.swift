extension Blackbird {
  /// The changes of a table, as they are committed by any process.
  public typealias ChangePublisher = Publisher<Change>
  /// The changes of a model's table, as they are committed by any process.
  public typealias ModelChangePublisher<T: BlackbirdModel> = Publisher<ModelChange<T>>

  /// Changes over time, as a sequence or for a closure.
  ///
  /// ```swift
  /// let listener = Post.changePublisher(in: db).sink { change in print(change.changedPrimaryKeys) }
  /// for try await change in Post.changePublisher(in: db) { … }
  /// ```
  ///
  /// One element for each commit and table. Every `sink` and every iterator is a subscription of its own; it
  /// is in effect when `sink` has returned, or when the iterator is made: what any process commits from then
  /// on arrives. (A `for` loop in a new task makes its iterator when the task gets to run.) On a database that
  /// is still opening, a subscription is in effect for other processes' writes once it is open; on one that is
  /// open for reading only, the first one begins with a change of everything. A receiver that is slow gets
  /// several commits' changes as one; none is lost. Writes of one process that wait at the same time may share
  /// a commit, and so a change.
  public struct Publisher<Output: Sendable>: AsyncSequence, Sendable {
    /// What the sequence is of.
    public typealias Element = Output
    /// What iterating can throw.
    public typealias Failure = any Swift.Error

    let database: Database
    let table: String
    let filter: ChangeFilter
    let transform: @Sendable (Change) -> Output?

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One subscription.
    public struct Iterator: AsyncIteratorProtocol {
      private let mailbox: ChangeMailbox<Change>
      private let subscription: ChangeSubscription
      private let transform: @Sendable (Change) -> Output?

      init(_ publisher: Publisher<Output>) {
        (mailbox, subscription) = publisher.subscribe()
        transform = publisher.transform
      }

      /// How many changes wait for the receiver; bounded.
      package var waitingCount: Int { mailbox.count }

      /// Returns the next change, or nil when the task is cancelled.
      ///
      /// - Throws: ``Database/Error`` when the database was closed, or its file replaced.
      public mutating func next() async throws -> Output? {
        try await next(isolation: nil)
      }

      /// Returns the next change, or nil when the task is cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(any Swift.Error) -> Output? {
        while let change = try await mailbox.next() {
          if let output = transform(change) { return output }
        }
        return nil
      }
    }

    private func subscribe() -> (ChangeMailbox<Change>, ChangeSubscription) {
      let mailbox = ChangeMailbox<Change> { $0.merged(with: $1) }
      let receiver = TableSubscriber(table: table, filter: filter, mailbox: mailbox)
      return (mailbox, ChangeSubscription(receiver, of: database))
    }
  }

  /// How a subscription ended.
  public enum PublisherCompletion: Sendable {
    /// It was cancelled.
    case finished
    /// The database was closed, or its file replaced.
    case failure(any Swift.Error)
  }
}

extension Blackbird.Publisher {
  /// Calls a closure with each change until the returned object is released.
  ///
  /// - Parameter receiveValue: called one change at a time, on Swift's cooperative pool, so also in a
  ///   program whose main thread is busy; on the main actor when written `{ @MainActor change in … }`. It may
  ///   be `async`.
  /// - Returns: what keeps the subscription alive.
  public func sink(
    receiveValue: @escaping @isolated(any) @Sendable (Output) async -> Void
  ) -> Blackbird.AnyCancellable {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
  }

  /// Calls closures with each change, and with the end.
  ///
  /// - Parameters:
  ///   - receiveCompletion: called once, when the database was closed or its file replaced. After a
  ///     cancellation nobody is called.
  ///   - receiveValue: called one change at a time.
  /// - Returns: what keeps the subscription alive.
  public func sink(
    receiveCompletion:
      @escaping @isolated(any) @Sendable (Blackbird.PublisherCompletion) async ->
      Void,
    receiveValue: @escaping @isolated(any) @Sendable (Output) async -> Void
  ) -> Blackbird.AnyCancellable {
    let (mailbox, subscription) = subscribe()
    let transform = transform
    // Holds the line, not the subscription: that belongs to the caller.
    Task.detached {
      do {
        while let change = try await mailbox.next() {
          if let output = transform(change) { await receiveValue(output) }
        }
      } catch {
        await receiveCompletion(.failure(error))
      }
    }
    return Blackbird.AnyCancellable {
      subscription.cancel()
      mailbox.end(nil)
    }
  }

  /// Returns a publisher of what a closure makes of each change.
  public func map<T: Sendable>(
    _ transform: @escaping @Sendable (Output) -> T
  ) -> Blackbird.Publisher<T> { compactMap { transform($0) } }

  /// Returns a publisher of the changes for which a closure returns true.
  public func filter(
    _ isIncluded: @escaping @Sendable (Output) -> Bool
  ) -> Blackbird.Publisher<Output> { compactMap { isIncluded($0) ? $0 : nil } }

  /// Returns a publisher of what a closure makes of each change, without nil.
  public func compactMap<T: Sendable>(
    _ transform: @escaping @Sendable (Output) -> T?
  ) -> Blackbird.Publisher<T> {
    let first = self.transform
    return Blackbird.Publisher<T>(database: database, table: table, filter: filter) {
      first($0).flatMap(transform)
    }
  }
}

/// Puts one table's changes into a mailbox.
private final class TableSubscriber: ChangeSubscriber {
  private let table: String
  private let filter: ChangeFilter
  private let mailbox: ChangeMailbox<Blackbird.Change>

  init(table: String, filter: ChangeFilter, mailbox: ChangeMailbox<Blackbird.Change>) {
    self.table = table
    self.filter = filter
    self.mailbox = mailbox
  }

  func receive(_ change: TranslatedChange) {
    if let change = change.change(of: table, filter) { mailbox.put(change) }
  }

  func end(_ error: any Error) { mailbox.end(error) }
}
