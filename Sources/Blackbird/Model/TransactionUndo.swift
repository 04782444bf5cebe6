import Synchronization

/// What this process remembers of a transaction and must forget again when it is rolled back: which values
/// are stored, what tables look like.
///
/// Steps are undone in the opposite order, by the thread of a savepoint that fails, or by the task whose
/// transaction has failed, when its closure has ended.
final class TransactionUndo: Sendable {
  enum Step {
    /// Columns that were said to be saved in a database.
    case saved([ColumnOrigin], in: Int64)
    case action(@Sendable () -> Void)
  }

  private let steps = Mutex<[Step]>([])

  func append(_ step: Step) { steps.withLock { $0.append(step) } }

  /// The place to go back to.
  var mark: Int { steps.withLock(\.count) }

  /// Undoes what was appended after a mark.
  func rollBack(to mark: Int = 0) {
    let undone = steps.withLock { steps in
      let undone = Array(steps[min(mark, steps.count)...])
      steps.removeLast(undone.count)
      return undone
    }
    for step in undone.reversed() {
      switch step {
      case .saved(let origins, let database):
        for origin in origins { origin.markUnsaved(in: database) }
      case .action(let action): action()
      }
    }
  }
}
