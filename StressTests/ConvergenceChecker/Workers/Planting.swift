/// What a consumer waits for.
typealias NextAnswer = () async throws -> Answer?

/// Live queries with a fault, to see the checks fail.
enum Planting {
  static func wrap(
    _ next: @escaping NextAnswer, _ plant: Plant?, _ plan: QueryPlan
  ) -> NextAnswer {
    var history: [Answer] = []
    /// Takes a value as it is delivered.
    func take() async throws -> Answer? {
      let answer = try await next()
      if let answer { history.append(answer) }
      return answer
    }
    switch plant {
    case .staleValue:
      return {
        // The first value stays for good, and it is not what is there.
        while var answer = try await take() {
          answer.lines.append("planted")
          if history.count == 1 { return answer }
        }
        return nil
      }
    case .backwards:
      return {
        if history.count == 1, var older = history.first {
          older.counter = older.counter.map { $0 - 1 }
          history.append(older)
          return older
        }
        return try await take()
      }
    case .doubledValue:
      return {
        if history.count == 1, let first = history.first {
          history.append(first)
          return first
        }
        return try await take()
      }
    case .afterCancellation:
      return {
        if let answer = try await take() { return answer }
        return history.last
      }
    case .tornValue where plan.constantSum != nil:
      return {
        guard var answer = try await take() else { return nil }
        if history.count == 1, let first = answer.lines.first,
          let value = Int64(first.dropFirst())
        {
          answer.lines[0] = "I\(value - 1)"
        }
        return answer
      }
    default: return next
    }
  }
}
