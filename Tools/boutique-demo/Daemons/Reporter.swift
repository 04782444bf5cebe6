import BoutiqueDB
import Synchronization

/// The daemon that keeps the live table: one live query, whose every value is shown.
struct Reporter {
  /// A value of the live query.
  ///
  /// Each includes commits that the one before did not, so no two are equal.
  struct LiveValue: Sendable {
    var totals: [KindTotal]
    /// The commits since the value that was delivered before.
    var news: [CommitStamp]
    /// How long the query took, in nanoseconds.
    var duration: Int64
  }

  private let database: BoutiqueDB
  private let board: LiveBoard
  private let tell: @Sendable (DaemonMessage) throws -> Void

  init(
    database: BoutiqueDB, board: LiveBoard, tell: @escaping @Sendable (DaemonMessage) throws -> Void
  ) {
    self.database = database
    self.board = board
    self.tell = tell
  }

  /// Follows the database until the task is cancelled.
  ///
  /// - Returns: what it saw.
  func run() async throws -> ReporterAccount {
    let lastSeen = Mutex<Int64>(0)
    var account = ReporterAccount()
    var fromIndexers = Durations()
    var fromShell = Durations()
    var query = Durations()
    let values = database.observe { connection in
      let began = Clock.monotonic()
      let totals = try KindTotals.fetch(connection)
      let news = try connection.query(
        "SELECT id, writer, time FROM commit_stamp WHERE id > ? ORDER BY id",
        lastSeen.withLock { $0 }
      ).map {
        CommitStamp(
          id: try $0.decode("id"), writer: try $0.decode("writer"), time: try $0.decode("time"))
      }
      return LiveValue(totals: totals, news: news, duration: Clock.monotonic() - began)
    }
    for try await value in values {
      let (now, wall) = (Clock.monotonic(), Clock.wall())
      // A run that began before the last value was delivered tells some commits again.
      let known = lastSeen.withLock { $0 }
      let news = value.news.filter { $0.id > known }
      for stamp in news {
        if stamp.writer == SQLiteShell.label {
          fromShell.add(wall - stamp.time)
        } else {
          fromIndexers.add(now - stamp.time)
        }
      }
      query.add(value.duration)
      account.refreshes += 1
      account.commitsSeen += news.count
      account.last = value.totals
      let newest = news.last?.id ?? known
      lastSeen.withLock { $0 = newest }
      board.show(
        value.totals, commits: account.commitsSeen, refreshes: account.refreshes)
      try tell(.seen(newest))
    }
    account.fromIndexers = fromIndexers.summary
    account.fromShell = fromShell.summary
    account.query = query.summary
    return account
  }
}
