import Synchronization

/// What a database knows about the models that were used with it.
final class ModelRegistry: Sendable {
  private static let next = Atomic<UInt64>(1)

  /// A number that no other database of this process has had; never 0.
  let identity = next.wrappingAdd(1, ordering: .relaxed).oldValue

  init() {}
}
