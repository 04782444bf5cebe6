/// The thread of the process that listens to the bells of all open databases.
package final class BellWatcher: Sendable {
  /// The one of this process: libinotifytools keeps its state per process.
  package static let shared = BellWatcher()

  /// Listens to a database's bell until the subscription is cancelled.
  package func watch(
    databasePath: String, handler: @escaping @Sendable (BellEvent) -> Void
  ) -> BellSubscription {
    BellSubscription()
  }
}

/// One listener; cancelling or letting go of it ends the listening.
package final class BellSubscription: Sendable {
  /// How the bell is heard at present.
  package var mode: BellMode { .pollingOnly(reason: "not written yet") }

  /// Ends the listening. Doing so again does nothing.
  package func cancel() {}
}
