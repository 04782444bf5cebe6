import Foundation

/// What the coordinator tells a worker to be, in the first line of its standard input.
///
/// Further lines are words of the role's own: `start`, `go`, `stop`.
enum WorkerOrders: Codable, Sendable {
  /// Write rows without pause.
  case contention(ContentionOrders)
  /// Hold the right to write again and again for a moment.
  case handover(HandoverOrders)
  /// Hold the right to write, or wait for it.
  case waiting(WaitingOrders)
  /// Observe queries.
  case observer(ObserverOrders)
  /// Observe while nothing happens.
  case idle(IdleOrders)
  /// Write for observers.
  case liveWriter(LiveWriterOrders)
  /// Run statements with and without capture.
  case capture(CaptureOrders)
  /// Keep items in a store, or as a plain program does.
  case store(StoreOrders)
  /// Write and read many rows.
  case rows(RowsOrders)
  /// Write and read models.
  case models(ModelsOrders)
  /// Read a long result row by row.
  case stream(StreamOrders)
  /// Change rows under a long live list.
  case list(ListOrders)
}

/// One line from a worker to the coordinator.
struct WorkerMessage: Codable, Sendable {
  /// What it is about.
  enum Event: String, Codable, Sendable {
    /// Everything is open; the worker waits for `start`.
    case ready
    /// A step is done, of those that the role knows.
    case step
    /// The work is done; the figures are complete.
    case result
    /// The work cannot be done.
    case failure
  }

  var event: Event
  /// Lists of numbers by name; durations and instants in nanoseconds.
  var figures: [String: [Int64]] = [:]
  /// What went wrong.
  var text: String?

  /// The numbers under a name, none when the role did not tell any.
  subscript(name: String) -> [Int64] { figures[name] ?? [] }

  /// The only number under a name.
  func number(_ name: String) throws -> Int64 {
    guard let value = figures[name]?.first else {
      throw BenchFailure("a worker's report lacks “\(name)”")
    }
    return value
  }
}

/// Something that went wrong, told in a sentence for the user.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// One value as one line.
enum JSONLine {
  /// Returns the value as JSON with a line end.
  static func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(value), as: UTF8.self) + "\n"
  }

  /// Reads a value from a line.
  static func value<Value: Decodable>(_ line: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(line.utf8))
  }
}
