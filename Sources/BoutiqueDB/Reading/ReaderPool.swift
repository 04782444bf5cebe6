import SQLiteConnection
import Synchronization

/// Connections that read, each on a thread of its own, and the line of reads that wait for one.
///
/// Threads and connections are made when they are first needed and stay. A reader never waits for the
/// writer, and nothing here waits while it holds a reader.
final class ReaderPool: Sendable {
  private struct State {
    var line: [ReadWork] = []
    var next = 0
    var threads = 0
    var idle = 0
    var isClosed = false
    /// When each running read began, by thread.
    var running: [Int: MonotonicTime] = [:]
  }

  private let monitor = Monitor(State())
  private let factory: ConnectionFactory
  private let files: OpenedFiles?
  private let limit: Int

  init(factory: ConnectionFactory, files: OpenedFiles?, limit: Int) {
    self.factory = factory
    self.files = files
    self.limit = max(1, limit)
  }

  /// Adds a read to the line.
  func submit(_ work: ReadWork) { submit([work]) }

  /// Adds reads to the line.
  func submit(_ works: [ReadWork]) {
    func add(_ state: inout State) -> Range<Int>? {
      guard !state.isClosed else { return nil }
      state.line.append(contentsOf: works)
      let missing = state.line.count - state.next - state.idle
      let before = state.threads
      state.threads += max(0, min(missing, limit - before, works.count))
      return before..<state.threads
    }
    let started = works.count == 1 ? monitor.updateOne(add) : monitor.update(add)
    guard let started else {
      for work in works { work.fail(BoutiqueError.closed(path: factory.path)) }
      return
    }
    for number in started.lazy.map({ $0 + 1 }) {
      let isStarted = DatabaseThread.start(name: "boutique-read\(number)") { self.serve(number) }
      if !isStarted { giveUp() }
    }
  }

  /// Notes that there was no thread to be had; without any other reader the reads in the line end.
  private func giveUp() {
    let stranded = monitor.update { state -> [ReadWork] in
      state.threads -= 1
      guard state.threads == 0 else { return [] }
      defer {
        state.line = []
        state.next = 0
      }
      return Array(state.line[state.next...])
    }
    for work in stranded { work.fail(DatabaseThread.missing(path: factory.path)) }
  }

  /// How many reads run now, and how long the oldest has held its snapshot.
  var load: (running: Int, oldest: Duration?) {
    monitor.withLock { state in
      (state.running.count, state.running.values.min().map { $0.duration(to: .now()) })
    }
  }

  /// Refuses new reads, lets those in the line finish, and waits until the connections are closed.
  ///
  /// Blocks; for threads of our own.
  func close() {
    monitor.update { $0.isClosed = true }
    _ = monitor.wait { state -> Bool? in state.threads == 0 ? true : nil }
  }

  private func serve(_ number: Int) {
    var connection: (Connection, StatementLimits)?
    defer {
      connection?.0.close()
      monitor.update { $0.threads -= 1 }
    }
    while let work = next(for: number) {
      do {
        let reader = try connection ?? open()
        connection = reader
        // A file that was deleted would go on answering.
        try files?.checkDatabase()
        work.run(on: reader.0, limits: reader.1, isShared: false) {
          monitor.withLock { $0.running[number] = nil }
        }
      } catch {
        work.fail(BoutiqueError.translate(error, path: factory.path))
      }
      monitor.withLock { $0.running[number] = nil }
    }
  }

  private func open() throws -> (Connection, StatementLimits) {
    // A path that names another file now would join the new file with the old log.
    try files?.check()
    let connection = try factory.openReader()
    do {
      try files?.check()
      return connection
    } catch {
      connection.0.close()
      throw error
    }
  }

  private func next(for number: Int) -> ReadWork? {
    monitor.withLock { $0.idle += 1 }
    return monitor.wait { state -> ReadWork?? in
      guard state.next < state.line.count else {
        guard state.isClosed else { return nil }
        state.idle -= 1
        return .some(nil)
      }
      let work = state.line[state.next]
      state.next += 1
      if state.next == state.line.count {
        state.line.removeAll(keepingCapacity: true)
        state.next = 0
      } else if state.next > 1024 {
        state.line.removeFirst(state.next)
        state.next = 0
      }
      state.idle -= 1
      state.running[number] = .now()
      return .some(work)
    } ?? nil
  }
}
