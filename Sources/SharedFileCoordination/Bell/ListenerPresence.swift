import CLinuxShims
import Glibc

/// Says, as long as it lives, that somebody listens to the bell of a lock file.
///
/// To ring costs two writes into a file and the wake-up of every listener; mostly there is none. So a listener
/// keeps a shared lock on one byte, and who has committed asks for it before ringing. Nothing is lost by that:
/// a listener has the lock before it reads where everything stands, and a ringer asks after its commit is
/// visible. So either the ringer finds the lock, or the listener finds the commit.
///
/// The lock is held through a descriptor of its own, which reading rights are enough for, and the kernel drops
/// it when the process dies.
struct ListenerPresence: Sendable {
  /// What came of the attempt.
  enum Outcome {
    case present(ListenerPresence)
    /// There is no file.
    case missing
    case refused(String)
  }

  let identity: FileIdentity
  private let descriptor: GuardedDescriptor

  /// Begins to listen to the file at a path.
  static func begin(path: String) -> Outcome {
    let number = clx_guarded_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
    if -number == ENOENT { return .missing }
    guard number >= 0 else { return .refused(CoordinationError.text(ofErrno: -number)) }
    let descriptor = GuardedDescriptor(adopting: number, holdsLocks: true)
    var facts = stat()
    guard fstat(number, &facts) == 0 else {
      return .refused(CoordinationError.text(ofErrno: errno))
    }
    let result = clx_ofd_set(number, Int32(CLX_SHARED), LockFileLayout.listenersByte, 1)
    guard result == 0 else { return .refused(CoordinationError.text(ofErrno: -result)) }
    return .present(ListenerPresence(identity: FileIdentity(facts), descriptor: descriptor))
  }

  /// Whether anybody listens to a file, be it another open database of this process; when that cannot be told,
  /// somebody may.
  static func isThere(at file: LockFile) -> Bool {
    clx_ofd_probe(file.descriptor.number, LockFileLayout.listenersByte, 1) != 0
  }
}
