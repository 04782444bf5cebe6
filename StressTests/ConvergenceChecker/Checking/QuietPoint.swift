import Foundation
import ProcessHarness

/// Compares everything with what a plain connection reads, while nobody writes.
struct QuietPoint {
  let scenario: Scenario
  let place: RunPlace
  let company: Company
  let record: Record
  let patience: Duration

  func check() async throws {
    if scenario.plant == .damagedFile {
      _ = try await company.answer(of: ForeignPrograms.damager, input: "")
    }
    let queries = Dictionary(
      uniqueKeysWithValues: scenario.queries.map { (String($0.id), $0.sql) })
    let line = try await company.answer(
      of: ForeignPrograms.reader,
      input: String(decoding: try JSONEncoder().encode(queries), as: UTF8.self))
    let fresh = try Wire.value(FreshState.self, of: line)

    if !fresh.damage.isEmpty {
      await record.add(.integrity, "reader", fresh.damage.prefix(5).joined(separator: "; "))
    }
    await checkLedger(fresh)
    for query in scenario.queries where query.isCounted {
      guard let hash = fresh.answers[String(query.id)]?.hash else { continue }
      await record.take(
        [Sample(query: query.id, counter: fresh.counter, hash: hash)], from: "reader")
    }
    try await settle(fresh)
  }

  private func checkLedger(_ fresh: FreshState) async {
    let entries = Set(fresh.ledger.keys)
    for entry in await record.committed.subtracting(entries).sorted().prefix(3) {
      await record.add(
        .ledger, String(entry.prefix { $0 != "/" }), "\(entry) was acknowledged and is not there")
    }
    for entry in await record.refused.intersection(entries).sorted().prefix(3) {
      await record.add(
        .ledger, String(entry.prefix { $0 != "/" }), "\(entry) was refused and is there")
    }
    // Each commit has taken the next number, and no two the same.
    if fresh.ledger.values.sorted() != (0..<fresh.counter).map({ $0 + 1 }) {
      await record.add(
        .ledger, "reader",
        "\(fresh.ledger.count) entries, but \(fresh.counter) commits were counted")
    }
  }

  // MARK: Settling

  /// Something of an observer that is not what it should be.
  private struct Difference {
    var check: Check
    var process: String
    var text: String
  }

  /// What changes while an observer is on its way.
  private struct Seen: Equatable {
    var answers: [String: AnswerState]
    var copies: [String: [String: CopyState]]
    var positions: [Int64]
  }

  /// Waits until every observer agrees with `fresh`, as long as anything moves.
  private func settle(_ fresh: FreshState) async throws {
    let observers = scenario.observers
    let clock = ContinuousClock()
    var lastMove = clock.now
    var lastSeen: [Seen] = []
    let end = lastMove + .seconds(180)
    var pause = Duration.milliseconds(5)
    while true {
      var differs = false
      var (deliveries, changes, everythings) = (0, 0, 0)
      var seen: [Seen] = []
      for observer in observers {
        guard let state = try await state(.report, of: observer) else { return }
        await record.take(state.samples, from: observer.name)
        if !differences(state, fresh, observer).isEmpty { differs = true }
        seen.append(
          Seen(answers: state.answers, copies: state.copies, positions: state.positions))
        deliveries += state.deliveries
        changes += state.changes
        everythings += state.everythings
      }
      await record.note(deliveries: deliveries, changes: changes, everythings: everythings)
      if !differs { return }
      // Not by how many values and changes there were: one that begins anew gets the same again.
      if seen != lastSeen {
        lastSeen = seen
        lastMove = clock.now
      }
      if clock.now - lastMove > patience || clock.now > end { break }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(200))
    }
    for observer in observers {
      guard let state = try await state(.dump, of: observer) else { return }
      for difference in differences(state, fresh, observer) {
        await record.add(difference.check, difference.process, difference.text)
      }
    }
  }

  private func state(
    _ kind: Command.Kind, of observer: ProcessPlan
  ) async throws -> ObserverState? {
    do {
      return try await company.ask(kind, observer)
    } catch let failure as ChildFailure {
      if case .timedOut = failure.reason {
        await record.add(.stuck, observer.name, "\(failure)")
        return nil
      }
      await record.add(.error, observer.name, "\(failure)")
      return nil
    }
  }

  private func differences(
    _ state: ObserverState, _ fresh: FreshState, _ observer: ProcessPlan
  ) -> [Difference] {
    var found: [Difference] = []
    for query in scenario.queries where query.observer == observer.name {
      guard let expected = fresh.answers[String(query.id)] else { continue }
      let answer = state.answers[String(query.id)]
      if let text = difference(answer, expected, query, fresh.counter) {
        found.append(
          Difference(
            check: .liveValue, process: observer.name,
            text: "query \(query.id) (\(query.sql.joined(separator: " → "))): \(text)"))
      }
    }
    for feed in scenario.feeds where feed.observer == observer.name {
      guard let copies = state.copies[String(feed.id)] else {
        // One that begins with the next commit has nothing before there is one.
        if feed.kind == .live { continue }
        found.append(
          Difference(
            check: .feed, process: observer.name, text: "feed \(feed.id) has not begun"))
        continue
      }
      for name in Set(copies.keys).union(fresh.copies.keys).sorted()
      where copies[name]?.hash != fresh.copies[name]?.hash {
        found.append(
          Difference(
            check: .feed, process: observer.name,
            text: "feed \(feed.id) (\(feed.kind.rawValue)), table \(name.quotedName): "
              + difference(copies[name]?.rows, fresh.copies[name]?.rows)))
      }
    }
    return found
  }

  private func difference(
    _ answer: AnswerState?, _ expected: AnswerState, _ query: QueryPlan, _ counter: Int64
  ) -> String? {
    guard let answer else { return "nothing was delivered" }
    if let error = expected.error {
      return answer.error == nil ? "a value instead of an error: \(error)" : nil
    }
    if let error = answer.error { return "an error instead of a value: \(error)" }
    if answer.hash != expected.hash { return difference(answer.lines, expected.lines) }
    if query.isCounted, answer.counter != counter {
      return "counter \(answer.counter.map(String.init) ?? "none") instead of \(counter)"
    }
    return nil
  }

  private func difference(_ found: [String]?, _ expected: [String]?) -> String {
    guard let found else { return "missing" }
    guard let expected else { return "there, though it should not be" }
    func list(_ lines: Set<String>) -> String {
      lines.sorted().prefix(4).joined(separator: "; ") + (lines.count > 4 ? "; …" : "")
    }
    let (has, wants) = (Set(found), Set(expected))
    return "\(found.count) rows instead of \(expected.count); "
      + "too many: \(list(has.subtracting(wants))); too few: \(list(wants.subtracting(has)))"
  }
}
