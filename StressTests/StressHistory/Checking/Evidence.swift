/// Finds the operations that show what a process has noted: what it saw, who wrote that, and who wrote what it
/// should have seen.
package struct Evidence {
  /// Operations in order of their beginnings.
  private let operations: [OperationRecord]

  /// Looks for it in a history.
  package init(_ history: History) { operations = history.operations }

  /// How many operations under way at the same time are shown at most, where none is known by its value.
  private static let companyLimit = 4

  /// The operations that show a note, in order of time; none when the note tells of nothing that was seen.
  package func operations(for note: Note) -> [OperationRecord] {
    guard let seen = note.seen else { return answered(with: note) }
    let observation = OperationRecord(
      process: note.process, client: Self.observer, number: 0, name: "saw: " + note.subject,
      steps: seen, began: note.since ?? note.time, ended: note.time, outcome: .done)
    var found: [OperationRecord] = []
    for step in seen {
      found += writer(of: step, before: note.time)
      found += lastAcknowledged(of: step.key, before: observation.began)
    }
    // A value that nobody wrote, or half of one, comes from what was under way.
    if found.isEmpty { found = company(of: observation) }
    let others = Set(found)
    return (others + [observation]).sorted { ($0.began, $0.process) < ($1.began, $1.process) }
  }

  /// The operations that show what was found in the end, in order of time.
  package func operations(atEnd seen: [Step]) -> [OperationRecord] {
    let end = operations.reduce(Int64.min) { max($0, $1.ended ?? $1.began) }.plus(1)
    return self.operations(
      for: Note(
        .violation, process: Self.leader, time: end, subject: "the end", text: "", since: end,
        seen: seen))
  }

  /// The number that the leading process has where processes are counted by their starts.
  private static let leader = -1

  /// The lane of what was seen, beside those of a process's clients.
  private static let observer = 99

  /// The operation that was answered with the error that a note tells of.
  private func answered(with note: Note) -> [OperationRecord] {
    guard note.subject.hasPrefix("error in") else { return [] }
    let text = String(note.text.prefix(400))
    return operations.last {
      $0.process == note.process && $0.error == text && $0.ended ?? .max <= note.time
    }.map { [$0] } ?? []
  }

  /// Who wrote a value that was seen, last before a moment.
  private func writer(of step: Step, before time: Int64) -> [OperationRecord] {
    if step.value == .none { return [] }
    return operations.last { operation in
      operation.began <= time
        && operation.steps.contains {
          $0.isWrite && $0.key == step.key && $0.value == step.value
        }
    }.map { [$0] } ?? []
  }

  /// The newest write to a key that was acknowledged before a moment, so that it had to be seen.
  private func lastAcknowledged(of key: String, before time: Int64) -> [OperationRecord] {
    var last: OperationRecord?
    for operation in operations where operation.outcome == .done {
      guard let ended = operation.ended, ended < time, ended > last?.ended ?? .min,
        operation.steps.contains(where: { $0.isWrite && $0.key == key })
      else { continue }
      last = operation
    }
    return last.map { [$0] } ?? []
  }

  /// What other clients had under way while something was seen; the nearest in time.
  private func company(of observation: OperationRecord) -> [OperationRecord] {
    let company = operations.filter { operation in
      operation.began <= observation.ended ?? .max
        && operation.ended ?? .max >= observation.began
        && (operation.steps.isEmpty || operation.steps.contains(where: \.isWrite))
    }
    return Array(company.suffix(Self.companyLimit))
  }

  /// What a check of the file itself can show: what was never answered, and what was answered last, by all.
  package func lastOperations(limit: Int = 8) -> [OperationRecord] {
    let open = operations.filter { $0.outcome == .unknown }.suffix(limit)
    var newest: [Int: OperationRecord] = [:]
    for operation in operations where operation.outcome == .done {
      newest[operation.process] = operation
    }
    let done = newest.values.sorted { $0.began < $1.began }.suffix(limit)
    return (open + done).sorted { $0.began < $1.began }.suffix(limit)
  }
}

extension Step {
  /// Whether it changes the thing.
  var isWrite: Bool {
    switch kind {
    case .read: false
    case .append, .set, .add, .insert, .delete, .take, .finish: true
    }
  }
}
