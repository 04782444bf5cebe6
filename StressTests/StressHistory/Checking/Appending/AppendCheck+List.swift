/// What one list shows by itself, without the others.
extension AppendCheck {
  static func checkList(_ list: ListFacts, _ history: AppendHistory, _ found: inout Findings) {
    for (value, operation) in list.claimedTwice {
      found.add("wrong test", "\(value) is appended to \(list.key) by two operations", [operation])
    }
    checkReadings(list, history, &found)
    checkElements(list, history, &found)
    checkLost(list, history, &found)
  }

  /// All must have seen beginnings of one list.
  private static func checkReadings(
    _ list: ListFacts, _ history: AppendHistory, _ found: inout Findings
  ) {
    let order = list.longest.list
    for reading in list.readings where !list.isPrefix(reading.list) {
      var place = 0
      while reading.list[place] == order[place] { place += 1 }
      found.add(
        "incompatible orders",
        "at place \(place) of \(list.key) \(history.operations[reading.operation].place) read "
          + "\(reading.list[place]), \(history.name(list.longest.operation)) \(order[place])",
        [reading.operation, list.longest.operation])
    }
    if let final = list.final, !list.isPrefix(final) {
      found.add(
        "incompatible orders",
        "the final \(list.key) is \(final.short), and \(history.name(list.longest.operation)) read "
          + order.short, [list.longest.operation])
    }
  }

  /// Each value must stand once, be somebody's, not of the refused, and not be seen early or in part.
  private static func checkElements(
    _ list: ListFacts, _ history: AppendHistory, _ found: inout Findings
  ) {
    let order = list.longest.list
    // For each length, the last beginning of an append that it shows.
    var latest: [Int] = []
    latest.reserveCapacity(order.count)
    for (place, value) in order.enumerated() {
      let writer = list.orderedWriters[place]
      if list.positions[value] != place {
        found.add(
          "duplicate append", "\(value) stands twice in \(list.key)",
          [writer, list.reader(ofLength: place + 1) ?? -1])
      }
      if writer < 0 {
        found.add(
          "phantom", "nobody appended \(value) to \(list.key)",
          [list.reader(ofLength: place + 1) ?? -1])
      } else if history.operations[writer].outcome == .refused {
        found.add(
          "aborted read",
          "\(value) is in \(list.key), and its append was refused: "
            + (history.operations[writer].error ?? ""),
          [writer, list.reader(ofLength: place + 1) ?? -1])
      }
      let last = latest.last ?? -1
      let isLater =
        writer >= 0
        && (last < 0 || history.operations[writer].began > history.operations[last].began)
      latest.append(isLater ? writer : last)
    }
    for reading in list.readings where !reading.list.isEmpty && list.isPrefix(reading.list) {
      let reader = history.operations[reading.operation]
      let last = latest[reading.list.count - 1]
      if last >= 0, let ended = reader.ended, history.operations[last].began > ended {
        found.add(
          "read from the future",
          "\(reader.place) read of \(list.key) what \(history.operations[last].place) began to "
            + "append after that", [reading.operation, last])
      }
      let end = reading.list.count - 1
      let writer = list.orderedWriters[end]
      if writer >= 0, writer != reading.operation,
        let later = list.lastAppend(of: history.operations[writer]), later != reading.list[end]
      {
        found.add(
          "intermediate read",
          "\(reader.place) read \(reading.list[end]) at the end of \(list.key), and "
            + "\(history.operations[writer].place) appended \(later) after it",
          [writer, reading.operation])
      }
    }
  }

  /// What was acknowledged must be there from then on.
  private static func checkLost(
    _ list: ListFacts, _ history: AppendHistory, _ found: inout Findings
  ) {
    if let final = list.final, final.count < list.longest.list.count, list.isPrefix(final) {
      found.add(
        "lost append",
        "\(list.longest.list[final.count]) was read in \(list.key) and is not in its final state",
        [list.orderedWriters[final.count], list.longest.operation])
    }
    let missing = list.writers.filter { value, writer in
      list.positions[value] == nil && history.operations[writer].outcome == .done
    }
    for (value, writer) in missing.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      let later = list.readings.first {
        history.operations[$0.operation].began > history.operations[writer].ended ?? .max
      }
      guard list.final != nil || later != nil else { continue }
      found.add(
        "lost append",
        "\(value) was acknowledged and is not in \(list.key)", [writer, later?.operation ?? -1])
    }
  }
}

extension ListFacts {
  /// The last value that an operation appends to this list.
  fileprivate func lastAppend(of operation: OperationRecord) -> Int64? {
    var last: Int64?
    for step in operation.steps where step.kind == .append && step.key == key {
      if case .integer(let value) = step.value { last = value }
    }
    return last
  }
}

extension AppendHistory {
  fileprivate func name(_ operation: Int) -> String {
    operation < 0 ? "the final state" : operations[operation].place
  }
}
