import BoutiqueDB
import Foundation
import StressHistory

/// The newest commit that a process was told of, with its token.
struct Receipt: Codable, Sendable {
  var token: ChangeToken
  var link: ChainLink
}

/// A file beside the database in which a place keeps its newest receipt, beyond deaths and power cuts.
struct ReceiptFile: Sendable {
  private let path: String

  init(_ worker: WorkerContext) { path = worker.run.directory + "/receipt-\(worker.place)" }

  func keep(_ receipt: Receipt) {
    guard let data = try? JSONEncoder().encode(receipt) else { return }
    try? data.write(to: URL(filePath: path), options: .atomic)
  }

  /// Looks whether the database that is there honours the receipt of the process before.
  ///
  /// Whoever asks what came after a token is told "everything", or the token's commit is there. The same holds
  /// for who waits for the token: it is there, or the wait fails.
  func check(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    guard let data = FileManager.default.contents(atPath: path),
      let receipt = try? JSONDecoder().decode(Receipt.self, from: data)
    else { return }
    await worker.attempt("resume") { _ in
      let isGoingOn = try await db.read(since: receipt.token) { connection, recent in
        recent.changes.contains(where: \.isEverything)
          ? true : try Self.isThere(receipt.link, connection)
      }
      if !isGoingOn {
        worker.log.note(
          .violation, "lost future",
          "token \(receipt.token) was taken though its commit, position \(receipt.link.position), is lost"
        )
      }
      do {
        try await db.wait(for: receipt.token, timeout: .milliseconds(200))
        if try await !db.read({ try Self.isThere(receipt.link, $0) }) {
          worker.log.note(
            .violation, "lost future",
            "waited for token \(receipt.token), and position \(receipt.link.position) is lost")
        }
      } catch BoutiqueError.tokenVoid, BoutiqueError.waitTimedOut {
        // It says so.
      }
      return []
    }
  }

  private static func isThere(
    _ link: ChainLink, _ connection: BoutiqueConnection
  ) throws -> Bool {
    try ChainLink.all(connection, "WHERE position = \(link.position)") == [link]
  }
}
