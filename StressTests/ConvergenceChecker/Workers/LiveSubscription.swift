import BoutiqueDB
import Synchronization

/// One live query with everything that must hold of the values it delivers.
///
/// Checked here, value by value: the counter of commits never goes back (also not from one consumer to the
/// next), no value follows an equal one, none comes to a cancelled consumer, sums hold. What the values were
/// at which counter is told to the coordinator, which compares it with what others saw at the same counter.
final class LiveSubscription: Sendable {
  private struct State {
    var answer: Answer?
    var error: String?
    var counter: Int64 = -1
    var samples: [Sample] = []
    var deliveries = 0
  }

  let plan: QueryPlan
  private let plant: Plant?
  private let channel: WorkerChannel
  private let state = Mutex(State())
  /// The property, for a query that is one; on the main actor, as programs have it.
  @MainActor private var property: LiveValue<[String]>?

  init(plan: QueryPlan, plant: Plant?, channel: WorkerChannel) {
    self.plan = plan
    self.plant = plant
    self.channel = channel
  }

  var deliveries: Int { state.withLock(\.deliveries) }

  /// Returns the last value, or the error after it, and the samples since the last call.
  func state(isFull: Bool, keepsSamples: Bool = false) async -> (AnswerState?, [Sample]) {
    if plan.style == .property {
      return (await propertyState(isFull: isFull), [])
    }
    return state.withLock { state in
      defer { if !keepsSamples { state.samples = [] } }
      if let error = state.error { return (AnswerState(error: error), state.samples) }
      return (
        state.answer.map { Self.state(of: $0.lines, $0.counter, isFull) }, state.samples
      )
    }
  }

  private static func state(
    of lines: [String], _ counter: Int64?, _ isFull: Bool
  ) -> AnswerState {
    AnswerState(
      hash: RowText.hash(lines: lines), counter: counter, lines: isFull ? lines : nil)
  }

  @MainActor private func propertyState(isFull: Bool) -> AnswerState? {
    guard let property else { return nil }
    if let error = property.error { return AnswerState(error: "\(error)") }
    return property.isLoaded ? Self.state(of: property.value, nil, isFull) : nil
  }

  /// Observes until the task is cancelled or the database ends.
  func run(on db: BoutiqueDB) async {
    state.withLock {
      $0.answer = nil
      $0.error = nil
    }
    switch plan.style {
    case .property:
      await hold(on: db)
    case .statement:
      guard let query = AccountQueries.all.first(where: { [$0.sql] == plan.sql }) else { return }
      await consume {
        var iterator = query.observe(db).makeAsyncIterator()
        return { () async throws -> Answer? in
          guard let accounts = try await iterator.next() else { return nil }
          return Answer(lines: accounts.map { "I\($0.id)|I\($0.balance)" })
        }
      }
    case .sequence:
      let plan = plan
      let observation = db.observe { connection in
        try Answer.of(plan.sql, isCounted: plan.isCounted, on: connection)
      }
      await consume {
        var iterator = observation.makeAsyncIterator()
        return { () async throws -> Answer? in try await iterator.next() }
      }
    }
  }

  @MainActor private func hold(on db: BoutiqueDB) async {
    let sql = plan.sql
    property =
      LiveQuery<String>(db) { try Answer.of(sql, isCounted: false, on: $0).lines }.projectedValue
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    property = nil
  }

  // MARK: Consumers

  /// Lets one consumer after the other take values.
  private func consume(_ begin: @escaping @Sendable () -> NextAnswer) async {
    while !Task.isCancelled {
      let consumer = Task { await self.consumer(begin()) }
      let goesOn = await withTaskCancellationHandler {
        await consumer.value
      } onCancel: {
        consumer.cancel()
      }
      guard goesOn else { return }
    }
  }

  /// One consumer; returns whether another shall follow.
  private func consumer(_ delivered: @escaping NextAnswer) async -> Bool {
    let next = Planting.wrap(delivered, plant, plan)
    var count = 0
    var last: Answer?
    var isRestarting = false
    while true {
      let wasCancelled = Task.isCancelled
      do {
        guard let answer = try await next() else { return isRestarting }
        if wasCancelled {
          channel.violation(
            .cancellation, "query \(plan.id) delivered a value to a cancelled consumer: \(answer)")
          return isRestarting
        }
        if answer == last {
          channel.violation(.repetition, "query \(plan.id) delivered twice: \(answer)")
        }
        last = answer
        take(answer)
      } catch {
        if Task.isCancelled { return isRestarting }
        // After an error a value like the one before it is news.
        last = nil
        switch error {
        case BoutiqueError.closed, BoutiqueError.fileReplaced: return false
        default: state.withLock { $0.error = "\(error)" }
        }
      }
      count += 1
      if count == plan.restartsAfter {
        isRestarting = true
        withUnsafeCurrentTask { $0?.cancel() }
      }
      if plan.pause > 0, !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(plan.pause))
      }
    }
  }

  private func take(_ answer: Answer) {
    state.withLock { state in
      state.deliveries += 1
      state.error = nil
      state.answer = answer
      if let counter = answer.counter {
        if counter < state.counter {
          channel.violation(
            .monotony, "query \(plan.id) went back from counter \(state.counter) to \(counter)")
        }
        state.counter = max(state.counter, counter)
        state.samples.append(
          Sample(query: plan.id, counter: counter, hash: RowText.hash(lines: answer.lines)))
      }
      if let sum = plan.constantSum {
        let found = answer.lines.reduce(0) { $0 + (Int64($1.dropFirst()) ?? 0) }
        if found != sum {
          channel.violation(
            .invariant, "query \(plan.id) showed a sum of \(found) instead of \(sum)")
        }
      }
    }
  }
}
