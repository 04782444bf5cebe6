import BoutiqueDB
import Foundation

/// How a long result is read row by row.
enum StreamWork: String, CaseIterable, Codable, Sendable {
  case structs = "forEach, structs"
  case rows = "forEachRow, rows by name"
  case cursor = "fetchCursor, structs"
}

/// What a worker of the `stream` benchmark does.
struct StreamOrders: Codable, Sendable {
  var path: String
  /// How many rows the result has.
  var rows: Int
  /// How long the text of each is.
  var rowBytes: Int
}

/// A row of the `stream` benchmark.
@Table("lines")
struct StreamRow: Sendable {
  let id: Int
  var text: String
}

/// Reads a long result in each way and tells how long it took and what memory.
struct StreamWorker: Sendable {
  let orders: StreamOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    let orders = orders
    let db = try await BoutiqueDB.open(path: orders.path)
    try await db.write { connection in
      try connection.execute("CREATE TABLE lines (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    }
    let text = String(repeating: "x", count: orders.rowBytes)
    var done = 0
    while done < orders.rows {
      let numbers = done..<min(orders.rows, done + 10_000)
      try await db.write { connection in
        for number in numbers {
          try StreamRow.insert { StreamRow(id: number, text: text) }.execute(connection)
        }
      }
      done = numbers.upperBound
    }
    _ = try await db.checkpoint(.truncate)
    _ = try await link.awaitStart()
    var figures: [String: [Int64]] = [:]
    for work in StreamWork.allCases {
      // What the library needs once, whatever comes: its reader, the statement, the cache of pages.
      _ = try await Self.read(work, db, most: 10_000)
      ProcessMemory.forgetPeak()
      let before = ProcessMemory.now().resident
      let start = Expense.now()
      let bytes = try await Self.read(work, db, most: orders.rows)
      let expense = StoreWorker.figures(since: start)
      guard bytes == orders.rows * orders.rowBytes else {
        throw BenchFailure("\(work.rawValue): \(bytes) bytes")
      }
      figures[work.rawValue] = expense + [ProcessMemory.now().peak - before]
    }
    await db.close()
    return figures
  }

  /// Returns how many bytes the texts have that were read.
  private static func read(_ work: StreamWork, _ db: BoutiqueDB, most: Int) async throws -> Int {
    try await db.read { connection in
      var bytes = 0
      let statement = StreamRow.order(by: \.id).limit(most)
      switch work {
      case .structs: try statement.forEach(connection) { bytes += $0.text.utf8.count }
      case .rows:
        try connection.forEachRow(
          "SELECT id, text FROM lines ORDER BY id LIMIT ?", arguments: [most]
        ) { row in
          bytes += try row.decode("text", as: String.self).utf8.count
        }
      case .cursor:
        let cursor = try statement.fetchCursor(connection)
        while let row = try cursor.next() { bytes += row.text.utf8.count }
      }
      return bytes
    }
  }
}
