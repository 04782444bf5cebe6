import StressHistory

/// An operation in a few words: `x+1` appends 1 to x, `x=1,2` reads it, `x=` finds it empty.
func appends(
  _ words: String, _ began: Int64, _ ended: Int64?, _ outcome: OperationRecord.Outcome? = nil
) -> OperationRecord {
  let steps = words.split(separator: " ").map { word in
    let key = String(word.prefix { $0 != "+" && $0 != "=" })
    let rest = word.dropFirst(key.count + 1)
    return word.contains("+")
      ? Step(.append, key, .integer(Int64(rest) ?? 0))
      : Step(.read, key, .list(rest.split(separator: ",").compactMap { Int64($0) }))
  }
  return operation("append", steps, began, ended, outcome)
}

/// An operation, acknowledged when it has an end and nothing else is said; its number is its beginning.
func operation(
  _ name: String, _ steps: [Step], _ began: Int64, _ ended: Int64?,
  _ outcome: OperationRecord.Outcome? = nil, error: String? = nil
) -> OperationRecord {
  OperationRecord(
    process: Int(began), number: Int(began), name: name, steps: steps, began: began, ended: ended,
    outcome: outcome ?? (ended == nil ? .unknown : .done), error: error)
}

extension [Violation] {
  /// The kinds, each once.
  var checks: Set<String> { Set(map(\.check)) }

  /// The numbers of the operations that show a kind.
  func numbers(_ check: String) -> [Int] {
    first { $0.check == check }?.operations.map(\.number) ?? []
  }
}
