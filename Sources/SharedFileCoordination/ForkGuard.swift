import CLinuxShims
import Glibc

/// Notices that this process is a child made by fork without exec.
///
/// A child shares its parent's open file descriptions, and with them the parent's locks: it would
/// keep them after the parent's death. The handler in `CLinuxShims` closes the child's copies and
/// moves the generation on; whoever was made under an older generation refuses to work.
package struct ForkGuard: Sendable {
  /// How often the program has been forked up to this process.
  package static var generation: UInt64 { clx_fork_generation() }

  private let generation: UInt64
  private let pid: Int32

  /// Remembers the process that makes it.
  package init() {
    generation = clx_fork_generation()
    pid = getpid()
  }

  /// Whether this is still the process that made the guard.
  ///
  /// Also what goes around the C library (a bare `clone`) is caught: by a page that the kernel empties in a
  /// child, or, where it does not know how, by the number of the process.
  package var isSameProcess: Bool {
    generation == clx_fork_generation() && (clx_fork_generation_sees_clones() || pid == getpid())
  }

  /// The same without a system call on any kernel, for what is asked often.
  ///
  /// Before Linux 4.14 it does not see a bare `clone`.
  package var isSameGeneration: Bool { generation == clx_fork_generation() }

  /// Throws when this process is a forked child of the one that made the guard.
  package func check(path: String) throws(CoordinationError) {
    if !isSameProcess { throw .usedAcrossFork(path: path) }
  }
}
