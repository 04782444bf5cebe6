import Synchronization

/// Marks the running closure of a write, so that a write started inside it is recognised.
///
/// Such a write could only run after the closure has ended, and a closure that waits for it would wait
/// for ever.
enum RunningWrite {
  private final class Marker: Sendable {
    let gate: ObjectIdentifier
    let isOpen = Atomic(true)
    init(gate: ObjectIdentifier) { self.gate = gate }
  }

  // Task-local, since a task started in the closure inherits it.
  @TaskLocal private static var current: Marker?

  static func within(gate: WriteGate, _ body: () throws -> Void) rethrows {
    let marker = Marker(gate: ObjectIdentifier(gate))
    defer { marker.isOpen.store(false, ordering: .releasing) }
    try $current.withValue(marker) { try body() }
  }

  /// Throws ``BoutiqueError/transactionInProgress`` inside a running write of the same database.
  static func check(gate: WriteGate) throws {
    guard let current, current.gate == ObjectIdentifier(gate),
      current.isOpen.load(ordering: .acquiring)
    else { return }
    throw BoutiqueError.transactionInProgress
  }
}
