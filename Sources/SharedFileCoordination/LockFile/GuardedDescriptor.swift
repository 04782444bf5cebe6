import CLinuxShims

/// A descriptor that is closed with its last owner, and at once in a forked child.
///
/// Closing while another thread uses the number would hand that thread somebody else's file; so
/// nobody closes, everybody lets go.
final class GuardedDescriptor: Sendable {
  let number: Int32
  private let holdsLocks: Bool
  private let origin = ForkGuard()

  /// Takes over a descriptor that one of the `clx_guarded_` calls made.
  init(adopting number: Int32, holdsLocks: Bool) {
    self.number = number
    self.holdsLocks = holdsLocks
  }

  deinit {
    // In a forked child the number is closed already and may belong to another file.
    if origin.isSameProcess { clx_guarded_close(number, holdsLocks) }
  }
}
