import Synchronization

/// Somebody who is told of changes; kept by its subscription.
protocol ChangeSubscriber: AnyObject, Sendable {
  /// Called for each commit, under a lock; must return at once and call nothing here.
  func receive(_ change: TranslatedChange)
  /// Called once when nothing more will come, because of an error.
  func end(_ error: any Error)
}

/// One subscriber's place; it ends with this object.
final class ChangeSubscription: Sendable {
  private let center: ChangeCenter
  // The database itself: it must not close because nobody else needs it any more.
  private let database: Blackbird.Database
  private let id: Mutex<Int?>

  init(_ subscriber: any ChangeSubscriber, of database: Blackbird.Database) {
    self.database = database
    center = database.changes
    id = Mutex(database.changes.add(subscriber, of: database))
  }

  deinit { cancel() }

  func cancel() {
    let id = id.withLock { id in
      defer { id = nil }
      return id
    }
    if let id { center.remove(id) }
  }
}
