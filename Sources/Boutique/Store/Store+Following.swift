// How a store's memory follows the disk, where this process, its other stores and other processes write.
//
// Invariants
//  1. Memory is the disk's state of one moment (`position`). It gets from moment to moment by steps, each
//     worked out from what the engine read in one snapshot: which places have changed between the two moments,
//     and what is there at the later one. So half of a transaction is never seen, whoever made it.
//  2. Steps are made one after another, by one task (`isFollowing`). A step's reading begins when the one before
//     is in memory, so moments only go forward: late news cannot undo what memory has.
//  3. The store's own writes go to the disk first, and reach memory by a step as everybody's do. The step is asked
//     for after the commit, so its snapshot holds it. When writing fails there is nothing to take back.
//  4. News only say that a step is needed. One that is lost, doubled, late or early costs a step at most; and one
//     that comes while a step is made makes another one follow (`isStepNeeded`).
//  5. Nothing is written before the items are there: a store that cannot read does not overwrite.
//  6. A step changes memory, and tells its events, without a suspension in between. A writer returns after that.
//  7. A step may come between a commit of this store and the news of it to the writer. Memory has it then, but what
//     this store did is told when the writer knows that it did.
//
// Of a chain of operations all are in one transaction, so in one step.
//
// What is not decoded again: data whose fingerprint is that of what memory has, or of what this store has just
// written.
//
// At death: what was committed is there, the rest is not; memory begins anew with everything.
// A process that was stopped makes, when it goes on, a step over all it has missed; where the engine's history does
// not reach back that far, that step reads everything.

extension Store {
  // MARK: Writing

  /// Makes one transaction of several changes, and returns when memory has it.
  func perform(_ changes: [StoreChange<Item>]) async throws {
    try await itemsHaveLoaded()
    let prepared = try await PreparedChanges.prepare(changes, identifier: identifier)
    guard !prepared.operations.isEmpty else { return }
    try Task.checkCancellation()
    let own = OwnChanges(prepared)
    beingWritten.append(own)
    do {
      defer { beingWritten.removeAll { $0 === own } }
      try await source.apply(prepared.operations)
    } catch {
      // Somebody else has removed what this store wanted to remove.
      if !own.taken.isEmpty {
        tell(StoreEvent(operation: .remove, items: Array(own.taken.values), origin: .unknown))
      }
      throw error
    }
    try await withCheckedThrowingContinuation { continuation in
      own.continuation = continuation
      written.append(own)
      follow()
    }
  }

  // MARK: Steps

  /// Has a step made that begins after now.
  func follow() {
    isStepNeeded = true
    guard !isFollowing else { return }
    isFollowing = true
    // Not a part of the caller's task: whoever is cancelled meanwhile does not cancel the others' step.
    Task {
      while isStepNeeded {
        isStepNeeded = false
        await step()
      }
      isFollowing = false
    }
  }

  private func step() async {
    let own = written
    written = []
    do {
      let changes = try await source.changes(since: position)
      let early = beingWritten + written
      let step = try await StoreStep.prepare(
        changes, contents, own: own.map(\.changes), early: early.map(\.changes))
      if !hasLoaded, let first = step.unreadable.min(by: { $0.key < $1.key }) { throw first.value }
      take(step, own, early)
      for changes in own { changes.continuation?.resume() }
    } catch {
      fail(error, own)
    }
  }

  private func take(
    _ step: StoreStep<Item>, _ own: [OwnChanges<Item>], _ early: [OwnChanges<Item>]
  ) {
    let events =
      own.flatMap { $0.events ?? $0.changes.events(before: contents) } + step.events
    for changes in early { changes.meet(step, before: contents) }
    position = step.position
    if !step.isEmpty {
      withMutation(keyPath: itemsPath) {
        if let rebuilt = step.rebuilt {
          contents = rebuilt
        } else {
          contents.apply(step.patch)
        }
      }
    }
    unreadable = unreadable.filter { place, _ in step.places.map { !$0.contains(place) } ?? false }
    unreadable.merge(step.unreadable) { _, new in new }
    stepProblem = nil
    updateProblem()
    guard hasLoaded else { return didLoad() }
    for event in events { tell(event) }
  }

  private func didLoad() {
    hasLoaded = true
    loading = .done
    tell(StoreEvent(operation: .loaded, items: contents.items))
    let waiting = waitingForItems
    waitingForItems = []
    for continuation in waiting { continuation.resume() }
  }

  private func fail(_ error: any Error, _ own: [OwnChanges<Item>]) {
    stepProblem = error
    updateProblem()
    for changes in own {
      changes.continuation?.resume(throwing: StoreError.notReadBack(message: "\(error)"))
    }
    if hasLoaded {
      // What was committed is to be seen even if nobody writes any more.
      Task { [weak self] in
        try? await Task.sleep(for: .seconds(1))
        self?.follow()
      }
      return
    }
    loading = .failed(error)
    let waiting = waitingForItems
    waitingForItems = []
    for continuation in waiting { continuation.resume(throwing: error) }
  }

  private func updateProblem() {
    let new =
      stepProblem ?? watchProblem ?? unreadable.min { $0.key < $1.key }?.value
    if new != nil || problem != nil { problem = new }
  }

  // MARK: News

  /// Follows an engine's news for as long as there is a store.
  static func watch(_ source: any StoreSource, _ store: @escaping () -> Store?) async {
    var pause = Duration.milliseconds(100)
    while !Task.isCancelled {
      do {
        for try await position in source.news() {
          guard let store = store() else { return }
          store.hear(of: position)
          pause = .milliseconds(100)
        }
        // An engine that has no news to tell.
        return
      } catch {
        guard let store = store() else { return }
        store.watchProblem = error
        store.updateProblem()
      }
      // Watching again begins with a step over what was missed.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(30))
    }
  }

  private func hear(of position: StoragePosition?) {
    if watchProblem != nil {
      watchProblem = nil
      updateProblem()
    }
    // What this store has written itself comes back as news that it has.
    if let position, let own = self.position, own.covers(position) { return }
    // Loading that has failed is tried again by those who ask for the items.
    if case .failed = loading { return }
    follow()
  }
}

/// A transaction of a store on its way: being written, or on the disk and not told yet.
@MainActor
final class OwnChanges<Item: StorableItem> {
  let changes: PreparedChanges<Item>
  /// What is to be told of it, if a step has brought it into memory before the store knew that it was
  /// committed.
  private(set) var events: [StoreEvent<Item>]?
  /// What such steps have removed.
  private(set) var taken: [CacheKey: Item] = [:]
  /// Resumed when memory has it.
  var continuation: CheckedContinuation<Void, any Error>?

  init(_ changes: PreparedChanges<Item>) { self.changes = changes }

  /// Looks whether a step brings it into memory.
  ///
  /// - Parameter contents: the memory before the step.
  func meet(_ step: StoreStep<Item>, before contents: StoreContents<Item>) {
    let removals = step.ownRemovals.filter { changes.removes($0.key) }
    let isMet =
      !removals.isEmpty || step.ownInsertions.contains { changes.written[$0] != nil }
    if isMet, events == nil { events = changes.events(before: contents) }
    taken.merge(removals) { _, new in new }
  }
}
