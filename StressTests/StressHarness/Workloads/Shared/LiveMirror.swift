import BoutiqueDB
import StressHistory
import StressReport
import Synchronization

/// One live query with the last thing that it delivered, to be compared with the truth.
///
/// Each value is judged as it comes; at the end, when nobody writes any more, the last one must become equal
/// to what a new read finds.
final class LiveMirror<Value: Sendable & Equatable>: Sendable {
  /// What a consumer was told, or what a read gives.
  enum News: Equatable, Sendable {
    case nothing
    case value(Value)
    /// The query fails; which error does not matter, that it fails does.
    case failure(String)

    static func == (a: News, b: News) -> Bool {
      switch (a, b) {
      case (.nothing, .nothing), (.failure, .failure): true
      case (.value(let a), .value(let b)): a == b
      default: false
      }
    }
  }

  private struct State {
    var last = News.nothing
    var deliveries = 0
  }

  private let name: String
  private let worker: WorkerContext
  private let fetch: @Sendable (BoutiqueConnection) throws -> Value
  /// Says what is wrong with a value, given the one before it.
  private let problem: @Sendable (Value?, Value) -> String?
  private let expects: @Sendable (any Error) -> Bool
  private let state = Mutex(State())

  init(
    _ name: String, _ worker: WorkerContext,
    expects: @escaping @Sendable (any Error) -> Bool = { _ in false },
    problem: @escaping @Sendable (Value?, Value) -> String? = { _, _ in nil },
    fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value
  ) {
    self.name = name
    self.worker = worker
    self.fetch = fetch
    self.problem = problem
    self.expects = expects
  }

  var deliveries: Int { state.withLock(\.deliveries) }

  /// Observes until the task is cancelled or the database is closed.
  ///
  /// - Parameter pause: how long it waits before it wants the next value.
  func follow(_ db: BoutiqueDB, pause: Duration? = nil) async {
    var iterator = db.observe(fetch).makeAsyncIterator()
    var before: Value?
    while true {
      do {
        guard let value = try await iterator.next() else { return }
        if let problem = problem(before, value) {
          worker.log.note(.violation, "live query", "\(name): \(problem)")
        }
        if before == value {
          worker.log.note(.violation, "live query", "\(name) delivered a value twice")
        }
        before = value
        state.withLock {
          $0.last = .value(value)
          $0.deliveries += 1
        }
        if let pause { try? await Task.sleep(for: pause) }
      } catch {
        if Task.isCancelled { return }
        // After an error a value equal to the one before it is news.
        before = nil
        state.withLock { $0.last = .failure("\(error)") }
        if case BoutiqueError.closed = error { return }
        if !expects(error) { worker.judge(error, during: "live query \(name)") }
        if case BoutiqueError.fileReplaced = error { return }
      }
    }
  }

  /// Waits until the live query and a new read agree; call it when this process writes no more.
  ///
  /// Others may still be writing, so for a while they may differ. That they do so for a minute is a violation.
  ///
  /// - Parameter touch: changes something that the query reads. A query that a fault has ended with an error
  ///   runs again with the next change, and there may be none.
  func settle(on db: BoutiqueDB, touch: (@Sendable (BoutiqueDB) async throws -> Void)? = nil) async
  {
    let start = HistoryLog.now()
    var touches = 0
    while true {
      let truth = await truth(on: db)
      let last = state.withLock(\.last)
      if truth == last { return }
      let seconds = Double(HistoryLog.now() - start) / 1e9
      if seconds > 60 {
        worker.log.note(
          .violation, "convergence",
          "\(name) shows \(describe(last)), and a read finds \(describe(truth))")
        return
      }
      if case .failure = last, !worker.run.plan.faults.isEmpty, seconds > Double(touches + 1) {
        touches += 1
        try? await touch?(db)
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func truth(on db: BoutiqueDB) async -> News {
    do { return .value(try await db.read(fetch)) } catch { return .failure("\(error)") }
  }

  private func describe(_ news: News) -> String {
    switch news {
    case .nothing: "nothing"
    case .value(let value): String("\(value)".prefix(600))
    case .failure(let text): "the error \(text.prefix(200))"
    }
  }
}
