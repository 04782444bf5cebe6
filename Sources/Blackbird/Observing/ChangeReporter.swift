extension Blackbird {
  /// What one commit changed in all tables.
  public struct DatabaseChange: Sendable {
    /// The changes of each table, in the order in which they were first touched; empty when ``isEverything``.
    public let changes: [Change]
    /// Whether anything may have changed: another program committed, or what it was is no longer kept.
    public let isEverything: Bool
    /// Who committed.
    public let origin: ChangeOrigin
  }

  /// Collects what is committed to a database, by whichever process, and tells those who want to know.
  public struct ChangeReporter: Sendable {
    let database: Database

    /// Publishes the changes of a table.
    public func changePublisher(for tableName: String) -> ChangePublisher {
      database.changePublisher(for: tableName)
    }

    /// The commits that change any table, each as one element; every loop is a subscription of its own, in
    /// effect when its iterator is made.
    public var changes: DatabaseChanges { DatabaseChanges(database: database) }

    /// Calls a closure with what each commit changed, until the returned object is released.
    public func sink(
      receiveValue: @escaping @isolated(any) @Sendable (DatabaseChange) async -> Void
    ) -> AnyCancellable {
      let (mailbox, subscription) = DatabaseSubscriber.subscribe(to: database)
      Task.detached {
        while let change = try? await mailbox.next() { await receiveValue(change) }
      }
      return AnyCancellable {
        subscription.cancel()
        mailbox.end(nil)
      }
    }

    /// Tells all publishers and live wrappers of this process that anything may have changed, for what no
    /// table tells: a function of yours that reads a file.
    public func reportEntireDatabaseChange() { database.changes.reportEverything() }
  }

  /// The commits of all processes to one database.
  public struct DatabaseChanges: AsyncSequence, Sendable {
    /// What the sequence is of.
    public typealias Element = DatabaseChange
    /// What iterating can throw.
    public typealias Failure = any Swift.Error

    let database: Database

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(database) }

    /// One subscription.
    public struct Iterator: AsyncIteratorProtocol {
      private let mailbox: ChangeMailbox<DatabaseChange>
      private let subscription: ChangeSubscription

      init(_ database: Database) {
        (mailbox, subscription) = DatabaseSubscriber.subscribe(to: database)
      }

      /// Returns what the next commit changed, or nil when the task is cancelled.
      ///
      /// - Throws: ``Database/Error`` when the database was closed, or its file replaced.
      public mutating func next() async throws -> DatabaseChange? { try await mailbox.next() }

      /// Returns what the next commit changed, or nil when the task is cancelled.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(any Swift.Error) -> DatabaseChange? { try await mailbox.next() }
    }
  }
}

extension Blackbird.Database {
  /// The hook for all changes of the database.
  public var changeReporter: Blackbird.ChangeReporter { Blackbird.ChangeReporter(database: self) }
}

/// Puts all tables' changes into a mailbox.
private final class DatabaseSubscriber: ChangeSubscriber {
  private let mailbox: ChangeMailbox<Blackbird.DatabaseChange>

  private init(mailbox: ChangeMailbox<Blackbird.DatabaseChange>) { self.mailbox = mailbox }

  static func subscribe(
    to database: Blackbird.Database
  ) -> (ChangeMailbox<Blackbird.DatabaseChange>, ChangeSubscription) {
    let mailbox = ChangeMailbox<Blackbird.DatabaseChange> { $0.merged(with: $1) }
    return (
      mailbox, ChangeSubscription(DatabaseSubscriber(mailbox: mailbox), of: database)
    )
  }

  func receive(_ change: TranslatedChange) {
    let changes = change.all
    guard change.isEverything || !changes.isEmpty else { return }
    mailbox.put(
      Blackbird.DatabaseChange(
        changes: changes, isEverything: change.isEverything, origin: change.origin))
  }

  func end(_ error: any Error) { mailbox.end(error) }
}

extension Blackbird.DatabaseChange {
  /// What a receiver is told who was slow: this commit and a later one as one.
  func merged(with later: Self) -> Self {
    let isEverything = isEverything || later.isEverything
    var changes = isEverything ? [] : changes
    if !isEverything {
      for change in later.changes {
        if let index = changes.firstIndex(where: { $0.table == change.table }) {
          changes[index] = changes[index].merged(with: change)
        } else {
          changes.append(change)
        }
      }
    }
    return Self(
      changes: changes, isEverything: isEverything,
      origin: origin == later.origin ? origin : .several)
  }
}
