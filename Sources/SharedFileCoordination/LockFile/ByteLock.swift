// Locks on single bytes of the lock file. The only place that calls F_OFD_SETLK.
//
// Plain POSIX locks belong to a process: any close of any descriptor of the file drops them all
// (open the file twice, lock through one, close the other: the lock is gone), and two threads never
// conflict. Open-file-description locks belong to what open(2) made: they go when that goes, with
// the process at the latest, and two openings in one process keep each other out, which is why two
// `CoordinationFile`s of one process behave like two processes.
//
// Rules
//  1. Never a waiting lock: the waits are ours, with deadline and cancellation.
//  2. Unlock is said, not left to close: a forked child may share the description.
//  3. Two users of one description do not keep each other out; who shares one (lease, migration
//     lease, initialisation of one `CoordinationFile`) keeps order by a mutex of its own.

import CLinuxShims
import Glibc

/// Sets, drops and looks at locks of single bytes.
enum ByteLock {
  /// Tries to lock a byte.
  ///
  /// - Returns: False when somebody else has it.
  static func tryLock(
    _ byte: Int64, of descriptor: GuardedDescriptor, path: String
  ) throws(CoordinationError) -> Bool {
    let result = clx_ofd_set(descriptor.number, Int32(CLX_EXCLUSIVE), byte, 1)
    switch -result {
    case 0: return true
    case EAGAIN, EACCES: return false
    default: throw .system(call: "fcntl(F_OFD_SETLK)", code: -result, path: path)
    }
  }

  /// Drops the lock of a byte; dropping what is not held does nothing.
  static func unlock(_ byte: Int64, of descriptor: GuardedDescriptor) {
    // Fails only when the kernel has no memory to split a range of locked bytes; the lock then
    // goes with the descriptor, and until then others name us as the holder.
    _ = clx_ofd_set(descriptor.number, Int32(CLX_UNLOCK), byte, 1)
  }

  /// Whether a byte is locked through any other opening of the file.
  static func isLockedByOther(_ byte: Int64, of descriptor: GuardedDescriptor) -> Bool {
    clx_ofd_probe(descriptor.number, byte, 1) == 1
  }
}
