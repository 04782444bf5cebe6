import BoutiqueDB
import CommandLineSupport
import Glibc

/// What a daemon process does from its start to its end.
enum DaemonProgram {
  /// Where the coordinator listens.
  static let channel: Int32 = 3

  /// Follows the coordinator's orders; the label is for `ps`.
  ///
  /// - Returns: how the process ends; a daemon that was asked to end has done well.
  static func run(label: String) async -> ExitStatus {
    do {
      try await run(try DaemonOrders.readFromStandardInput(), Shutdown())
      return .success
    } catch OutputError.readerGone {
      // The coordinator is gone, or has heard enough.
      return .success
    } catch {
      let output = TextOutput(fileDescriptor: STDERR_FILENO)
      try? output.write("boutique-demo \(label): \(error)\n")
      try? output.flush()
      return .failure
    }
  }

  private static func run(_ orders: DaemonOrders, _ shutdown: Shutdown) async throws {
    let database = try await BoutiqueDB.open(
      path: orders.database, configuration: DemoSchema.configuration(label: orders.label),
      migrations: DemoSchema.plan)
    let output = TextOutput(fileDescriptor: channel)
    let tell: @Sendable (DaemonMessage) throws -> Void = { message in
      try output.write(try message.line)
      try output.flush()
    }
    do {
      switch orders.role {
      case .indexer(let share, let count):
        try await shutdown.run(cancelsAtOnce: false) {
          var indexer = Indexer(
            orders: orders, share: share, of: count, shutdown: shutdown, database: database)
          do {
            try await indexer.run()
          } catch is CancellationError where shutdown.isRequested {}
          try tell(.indexer(indexer.account))
        }
      case .reporter(let fileCount):
        let board = LiveBoard(title: orders.tree, fileCount: fileCount)
        defer { board.finish() }
        try await shutdown.run(cancelsAtOnce: true) {
          let reporter = Reporter(database: database, board: board, tell: tell)
          try tell(.reporter(try await reporter.run()))
        }
      }
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }
}
