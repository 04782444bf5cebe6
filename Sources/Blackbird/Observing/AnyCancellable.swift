import Synchronization

extension Blackbird {
  /// What keeps a subscription alive: it ends when this is released.
  public final class AnyCancellable: Sendable, Hashable {
    private let action: Mutex<(@Sendable () -> Void)?>

    /// Creates one that calls a closure, once, when it is cancelled or released.
    public init(_ cancel: @escaping @Sendable () -> Void) { action = Mutex(cancel) }

    deinit { cancel() }

    /// Ends the subscription.
    ///
    /// A call of the receiver that has begun goes on; no other follows. A second `cancel` does nothing.
    public func cancel() {
      let action = action.withLock { action in
        defer { action = nil }
        return action
      }
      action?()
    }

    /// Keeps this in a set.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Keeps this in a collection.
    public func store<C: RangeReplaceableCollection>(in collection: inout C)
    where C.Element == AnyCancellable { collection.append(self) }

    /// Whether both are the same object.
    public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
    /// Feeds the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}
