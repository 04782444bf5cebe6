package import StressHistory

/// Operations and their steps as text.
package enum OperationText {
  /// A step: `read x = 3`, `append x ← 5`, `take job 7`.
  package static func text(_ step: Step) -> String {
    let head = "\(step.kind.rawValue) \(step.key)"
    guard let value = text(step.value) else {
      return step.kind == .read ? head + " = nothing" : head
    }
    return head + (step.kind == .read ? " = " : " ← ") + value
  }

  private static func text(_ value: StepValue) -> String? {
    switch value {
    case .none: nil
    case .integer(let number): String(number)
    case .text(let text): "“\(text)”"
    case .list(let numbers): list(numbers)
    }
  }

  /// A list; of a long one the end, because that is where appends differ.
  private static func list(_ numbers: [Int64]) -> String {
    let shown = 8
    let tail = numbers.suffix(shown).map(String.init).joined(separator: " ")
    return numbers.count > shown ? "[… \(tail)] (\(numbers.count))" : "[\(tail)]"
  }

  /// How it ended, in a word or two.
  package static func outcome(_ operation: OperationRecord) -> String {
    switch operation.outcome {
    case .done: "done"
    case .refused: "refused"
    case .unknown: operation.ended == nil ? "never answered" : "unknown"
    }
  }

  /// When it began, counted from another moment, and how long it took.
  package static func times(_ operation: OperationRecord, from origin: Int64) -> String {
    let began = operation.began.minus(origin)
    let length = Int64(clamping: began.magnitude)
    let start = (began < 0 ? "−" : "+") + FigureText.time(length)
    guard let ended = operation.ended else { return start }
    return "\(start), took \(FigureText.time(max(0, ended.minus(operation.began))))"
  }
}
