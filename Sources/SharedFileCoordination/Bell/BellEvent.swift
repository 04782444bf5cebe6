/// What the bell's watcher noticed about one database.
package enum BellEvent: Sendable, Equatable {
  /// Somebody rang: look now.
  case bell
  /// The log was written; the commit may not be visible yet.
  case writeAheadLogWritten
  /// One of the database's files was made, deleted, moved or replaced: check identities.
  case filesChanged
  /// Events were lost: check everything. `.writeAheadLogWritten` follows, as that may be among them.
  case overflow
  /// How the watcher works has changed.
  case modeChanged(BellMode)
}

/// How a database's bell is heard.
package enum BellMode: Sendable, Equatable {
  /// By kernel events.
  case inotify
  /// Not at all, for the given reason: polling has to do.
  case pollingOnly(reason: String)
}
