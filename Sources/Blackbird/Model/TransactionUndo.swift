import Synchronization

/// What this process remembers of a transaction and must forget again when it is rolled back: which values
/// are stored, what tables look like.
///
/// Steps are undone in the opposite order, by the thread of a savepoint that fails, or by the task whose
/// transaction has failed, when its closure has ended.
final class TransactionUndo: Sendable {
  /// A place to go back to.
  struct Mark {
    fileprivate let origins: Int
    fileprivate let actions: Int
  }

  private struct Steps {
    /// Columns that were said to be saved in the database.
    var origins: [ColumnOrigin] = []
    /// What else was done, and how many origins stood before it.
    var actions: [(place: Int, undo: @Sendable () -> Void)] = []
    /// Below it nothing moves: a mark or an action counts on it.
    var floor = 0
    /// How many origins there may be before those that nobody else has are dropped.
    var limit = Steps.smallest

    static let smallest = 4096

    /// Drops the origins of instances that are gone, about which nobody can ask; otherwise a transaction would
    /// remember every row that it has written.
    mutating func drop() {
      var end = floor
      for index in floor..<origins.count where !isKnownUniquelyReferenced(&origins[index]) {
        origins.swapAt(end, index)
        end += 1
      }
      origins.removeLast(origins.count - end)
      limit = max(Steps.smallest, 2 * (end - floor)) + floor
    }
  }

  private let database: Int64
  private let steps = Mutex(Steps())

  /// - Parameter database: the one in which columns are saved.
  init(database: Int64) { self.database = database }

  /// Notes what undoes something.
  func append(_ undo: @escaping @Sendable () -> Void) {
    steps.withLock {
      $0.actions.append(($0.origins.count, undo))
      $0.floor = $0.origins.count
    }
  }

  /// Notes origins that are said to be saved from now on.
  func append(saved origins: some Collection<ColumnOrigin>) {
    steps.withLock {
      $0.origins.append(contentsOf: origins)
      if $0.origins.count >= $0.limit { $0.drop() }
    }
  }

  /// The place to go back to.
  var mark: Mark {
    steps.withLock {
      $0.floor = $0.origins.count
      return Mark(origins: $0.origins.count, actions: $0.actions.count)
    }
  }

  /// Undoes everything.
  func rollBack() { rollBack(to: Mark(origins: 0, actions: 0)) }

  /// Undoes what was appended after a mark.
  func rollBack(to mark: Mark) {
    var (origins, actions) = steps.withLock { steps in
      let origins = Array(steps.origins[min(mark.origins, steps.origins.count)...])
      let actions = Array(steps.actions[min(mark.actions, steps.actions.count)...])
      steps.origins.removeLast(origins.count)
      steps.actions.removeLast(actions.count)
      steps.floor = min(steps.floor, steps.origins.count)
      return (origins, actions)
    }
    while !origins.isEmpty || !actions.isEmpty {
      if let action = actions.last, action.place >= mark.origins + origins.count {
        actions.removeLast()
        action.undo()
      } else if let origin = origins.popLast() {
        origin.markUnsaved(in: database)
      } else {
        actions.popLast()?.undo()
      }
    }
  }
}
