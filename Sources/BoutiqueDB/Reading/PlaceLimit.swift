import Glibc
import SharedFileCoordination
import Synchronization

/// How many reads may run in place at once, in the whole program: on half of the threads of Swift's pool.
///
/// With one thread that is none: a closure that waits for another task would wait for ever.
package enum PlaceLimit {
  /// How many.
  package static let limit: Int = {
    // Dispatch, whose pool it is, makes one thread then.
    if let strict = getenv("LIBDISPATCH_COOPERATIVE_POOL_STRICT"), strict.pointee != 0x30 {
      return 0
    }
    return min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), Processor.count) / 2
  }()
  private static let taken = Atomic(0)

  /// Takes one of the places.
  ///
  /// - Returns: whether there was one; then `leave` gives it back.
  static func enter() -> Bool {
    if taken.add(1, ordering: .relaxed).newValue <= limit { return true }
    leave()
    return false
  }

  static func leave() { taken.subtract(1, ordering: .relaxed) }
}
