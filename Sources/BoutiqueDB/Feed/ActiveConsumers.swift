import Synchronization

/// The names under which one open database consumes the change feed now.
///
/// The lock file keeps other processes out; two feeds of one open database share its descriptor and are
/// kept apart here.
final class ActiveConsumers: Sendable {
  private let names = Mutex<Set<String>>([])

  /// Takes a name.
  ///
  /// - Returns: false when it is taken.
  func begin(_ name: String) -> Bool { names.withLock { $0.insert(name).inserted } }

  func end(_ name: String) { names.withLock { _ = $0.remove(name) } }

  func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
}
