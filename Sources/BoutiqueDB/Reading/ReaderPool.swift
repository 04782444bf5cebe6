import SQLiteConnection
import Synchronization

/// Connections that read, threads that use them, and the line of reads that wait for one.
///
/// Threads and connections are made when they are first needed and stay. Whoever reads takes a connection out
/// and puts it back: a thread of the pool for a read in the line, or the caller itself for a short one
/// (`readInPlace`). A reader never waits for the writer, and nothing here waits while it holds a reader.
final class ReaderPool: Sendable {
  private struct State {
    var line: [ReadWork] = []
    var next = 0
    var threads = 0
    var idle = 0
    var isClosed = false
    /// The connections that nobody uses; the one last used is the next.
    var free: [Reader] = []
    /// The places of connections that there are not.
    var unmade: [Int]
    /// How many connections are in use, or being opened.
    var taken = 0
    /// When each running read began, by the connection's place.
    var began: [MonotonicTime?]

    init(limit: Int, first: Reader?) {
      unmade = Array((first == nil ? 0..<limit : 1..<limit).reversed())
      if let first { free.append(first) }
      began = Array(repeating: nil, count: limit)
    }

    var hasWaiting: Bool { next < line.count }
    /// Whether a thread of the pool has something to do.
    var canServe: Bool { hasWaiting && (!free.isEmpty || !unmade.isEmpty) }
  }

  /// What a thread of the pool reads with.
  private enum Place {
    case connection(Reader)
    case unmade(Int)
  }

  private let monitor: Monitor<State>
  private let factory: ConnectionFactory
  private let files: OpenedFiles?
  private let limit: Int
  private let paces = ReadPaces()

  /// Makes a pool.
  ///
  /// - Parameter first: a connection that there is already, with the number 0.
  init(factory: ConnectionFactory, files: OpenedFiles?, limit: Int, first: Reader? = nil) {
    self.factory = factory
    self.files = files
    self.limit = max(1, limit)
    monitor = Monitor(State(limit: self.limit, first: first))
  }

  // MARK: In line

  /// How long reads with a result of a type take.
  func pace(of type: Any.Type) -> ReadPace { paces[type] }

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
      let isStarted = DatabaseThread.start(name: "boutique-read\(number)") { self.serve() }
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
      let began = state.began.compactMap(\.self)
      return (began.count, began.min().map { $0.duration(to: .now()) })
    }
  }

  /// Refuses new reads, lets those in the line finish, and closes the connections.
  ///
  /// Blocks; for threads of our own.
  func close() {
    monitor.update { $0.isClosed = true }
    let readers = monitor.wait { state -> [Reader]? in
      guard state.threads == 0, state.taken == 0 else { return nil }
      defer { state.free = [] }
      return state.free
    }
    for reader in readers ?? [] { reader.sqlite.close() }
  }

  private func serve() {
    while let (work, place) = next() { serve(work, place) }
    monitor.update { $0.threads -= 1 }
  }

  private func serve(_ work: ReadWork, _ place: Place) {
    let reader: Reader
    do {
      switch place {
      case .connection(let known): reader = known
      case .unmade(let number):
        do {
          reader = try open(number)
        } catch {
          monitor.update { state in
            state.unmade.append(number)
            state.began[number] = nil
            state.taken -= 1
          }
          throw error
        }
      }
    } catch {
      work.fail(BoutiqueError.translate(error, path: factory.path))
      return
    }
    run(work, with: reader)
  }

  /// Runs a read and puts the connection back before anybody hears of the result.
  private func run(_ work: ReadWork, with reader: Reader) {
    do {
      // A file that was deleted would go on answering.
      try files?.checkDatabase()
    } catch {
      putBack(reader)
      work.fail(BoutiqueError.translate(error, path: factory.path))
      return
    }
    work.run(on: reader.sqlite, limits: reader.limits, isShared: false) { putBack(reader) }
  }

  private func open(_ number: Int) throws -> Reader {
    // A path that names another file now would join the new file with the old log.
    try files?.check()
    let (sqlite, limits) = try factory.openReader()
    do {
      try files?.check()
      return try Reader(sqlite, limits, number: number)
    } catch {
      sqlite.close()
      throw error
    }
  }

  private func next() -> (ReadWork, Place)? {
    monitor.withLock { $0.idle += 1 }
    return monitor.wait { state -> (ReadWork, Place)?? in
      guard state.canServe else {
        guard state.isClosed, !state.hasWaiting else { return nil }
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
      return .some((work, Self.take(&state)))
    } ?? nil
  }

  // MARK: Connections

  private static func take(_ state: inout State) -> Place {
    state.taken += 1
    let place: Place
    let number: Int
    if let reader = state.free.popLast() {
      place = .connection(reader)
      number = reader.number
    } else {
      number = state.unmade.removeLast()
      place = .unmade(number)
    }
    state.began[number] = .now()
    return place
  }

  /// Takes a connection for a read in place.
  ///
  /// - Returns: nil when there is none, or reads wait in the line, which come first.
  private func takeFree() -> Reader? {
    monitor.withLock { state in
      guard !state.isClosed, !state.hasWaiting, let reader = state.free.popLast() else {
        return nil
      }
      state.taken += 1
      state.began[reader.number] = .now()
      return reader
    }
  }

  /// Puts a connection back; nobody uses it from here on.
  ///
  /// - Returns: how long it was taken, in nanoseconds.
  @discardableResult
  private func putBack(_ reader: Reader) -> Int64 {
    let (nanoseconds, wakes, isOver) = monitor.withLock { state -> (Int64, Bool, Bool) in
      let began = state.began[reader.number]
      state.began[reader.number] = nil
      state.taken -= 1
      state.free.append(reader)
      let nanoseconds = began.map { MonotonicTime.now().nanoseconds - $0.nanoseconds } ?? 0
      return (nanoseconds, state.hasWaiting && state.idle > 0, state.isClosed)
    }
    // Whoever closes waits for this one, and threads for any.
    if isOver { monitor.update { _ in } } else if wakes { monitor.updateOne { _ in } }
    return nanoseconds
  }

  // MARK: In place

  /// Runs a read on the calling thread, if it is expected to be short and nothing has to be waited for.
  ///
  /// - Returns: what `body` returns; nil when it was not called.
  func readInPlace<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R? {
    let pace = paces[R.self]
    guard pace.isShort, PlaceLimit.enter() else { return nil }
    defer { PlaceLimit.leave() }
    guard let reader = takeFree() else { return nil }
    defer { pace.note(nanoseconds: putBack(reader)) }
    guard reader.isReady else { return nil }
    do {
      try files?.checkDatabase()
    } catch {
      throw BoutiqueError.translate(error, path: factory.path)
    }
    let cancellation = CancellationFlag()
    return try await withTaskCancellationHandler {
      try reader.run(cancellation, body)
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Runs reads on the calling thread as long as they are expected to be short and nothing has to be waited
  /// for, and adds the others to the line.
  func runInPlace(_ works: [ReadWork]) {
    var done = 0
    if PlaceLimit.enter() {
      defer { PlaceLimit.leave() }
      while done < works.count, works[done].pace?.isShort == true, let reader = takeFree() {
        guard reader.isReady else {
          putBack(reader)
          break
        }
        run(works[done], with: reader)
        done += 1
      }
    }
    if done < works.count { submit(Array(works[done...])) }
  }
}
