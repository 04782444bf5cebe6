import BoutiqueDB

/// A process that uses the library: it writes, or observes, or both.
struct LibraryProcess {
  let scenario: Scenario
  let opening: Opening
  let channel: WorkerChannel

  func run() async throws {
    let name = opening.plan.name
    let subscriptions = scenario.queries.filter { $0.observer == name }.map {
      LiveSubscription(plan: $0, plant: scenario.plant, channel: channel)
    }
    let replays = scenario.feeds.filter { $0.observer == name }.map {
      FeedReplay(
        plan: $0, file: opening.path + ".feed\($0.id)", scenario: scenario, channel: channel)
    }
    let runner = OperationRunner(scenario: scenario, plan: opening.plan, channel: channel)
    var session = try await begin(subscriptions, replays)
    // So that there is something to change before writers begin; who is started again later has no such luck.
    for _ in 0..<5000 {
      var isWaiting = replays.contains { !$0.hasBegun }
      for subscription in subscriptions where !isWaiting {
        isWaiting = await subscription.state(isFull: false, keepsSamples: true).0 == nil
      }
      if !isWaiting { break }
      try await Task.sleep(for: .milliseconds(2))
    }
    channel.tell(Event(kind: .ready))
    for await command in channel.commands {
      switch command.kind {
      case .report, .dump:
        let isFull = command.kind == .dump
        var state = ObserverState()
        for subscription in subscriptions {
          let (answer, samples) = await subscription.state(isFull: isFull)
          if let answer { state.answers[String(subscription.plan.id)] = answer }
          state.samples += samples
          state.deliveries += subscription.deliveries
        }
        for replay in replays {
          if let copies = replay.state(isFull: isFull) {
            state.copies[String(replay.plan.id)] = copies
          }
          state.positions.append(replay.position)
          let (changes, everythings) = replay.counts
          state.changes += changes
          state.everythings += everythings
        }
        channel.answer(state)
      case .reopen:
        await end(session)
        session = try await begin(subscriptions, replays)
        channel.tell(Event(kind: .ended))
      case .end:
        await end(session)
        return
      case .run:
        var rest = (command.operations ?? [])[...]
        while !rest.isEmpty {
          let part = rest.prefix { $0.kind != .reopen }
          await runner.perform(Array(part), attempt: command.attempt ?? 0, on: session.db)
          rest = rest.dropFirst(part.count)
          if let operation = rest.popFirst() {
            await end(session)
            session = try await begin(subscriptions, replays)
            channel.tell(Event(kind: .ended, operation: operation.id))
          }
        }
        channel.tell(Event(kind: .done))
      }
    }
    await end(session)
  }

  private struct Session {
    let db: BoutiqueDB
    let tasks: [Task<Void, Never>]
  }

  private func begin(
    _ subscriptions: [LiveSubscription], _ replays: [FeedReplay]
  ) async throws -> Session {
    let db = try await opening.open()
    let tasks =
      subscriptions.map { subscription in Task { await subscription.run(on: db) } }
      + replays.map { replay in Task { await replay.run(on: db) } }
    return Session(db: db, tasks: tasks)
  }

  private func end(_ session: Session) async {
    for task in session.tasks { task.cancel() }
    for task in session.tasks { await task.value }
    await session.db.close()
  }
}
