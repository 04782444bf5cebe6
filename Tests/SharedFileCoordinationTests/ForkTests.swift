import CLinuxShims
import Foundation
import SharedFileCoordination
import Testing

/// Serialised among themselves; other suites run beside them, which a forked child must survive.
@Suite(.serialized, .aloneInProcess) struct ForkTests {
  /// Runs a body in a forked child and returns the number that it gave.
  private func inChild(_ body: @escaping () -> Int32) -> Int32 {
    let box = Unmanaged.passRetained(Body(body))
    defer { box.release() }
    return clx_run_in_fork(
      { context in
        guard let context else { return 99 }
        return Unmanaged<Body>.fromOpaque(context).takeUnretainedValue().run()
      }, box.toOpaque())
  }

  private final class Body {
    let run: () -> Int32
    init(_ run: @escaping () -> Int32) { self.run = run }
  }

  @Test func `a child that uses what its parent opened gets a typed error`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let result = inChild {
      var count: Int32 = 0
      do throws(CoordinationError) {
        try file.writeLease.acquire(deadline: nil, purpose: "", isCancelled: { false }).finish()
      } catch {
        if case .usedAcrossFork = error { count += 1 }
      }
      do throws(CoordinationError) {
        try file.check()
      } catch {
        if case .usedAcrossFork = error { count += 1 }
      }
      // None of these may do anything, or wait for a lock that was copied.
      file.ring()
      file.publish(token: 1)
      file.writeLease.wakeWaiter()
      file.close()
      return count
    }
    #expect(result == 2)
    try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false }).finish()
    #expect(file.report().members.count == 1)
  }

  @Test func `a child that the C library knows nothing of is another process, too`() throws {
    // Only what neither allocates nor locks.
    var origin = ForkGuard()
    let result = withUnsafeMutablePointer(to: &origin) { origin in
      clx_run_in_clone(
        { context in
          guard let origin = context?.assumingMemoryBound(to: ForkGuard.self).pointee else {
            return 99
          }
          if origin.isSameProcess { return 1 }
          if clx_fork_generation_sees_clones(), origin.isSameGeneration { return 2 }
          return ForkGuard().isSameProcess ? 0 : 3
        }, origin)
    }
    #expect(result == 0)
    #expect(origin.isSameProcess)
    #expect(ForkGuard().isSameProcess)
  }

  @Test func `a child holds neither descriptor nor lock of its parent`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let identity = try #require(file.identity)
    let turn = try file.writeLease.acquire(
      deadline: soon(), purpose: "", isCancelled: { false })
    let before = ForkGuard.generation
    let result = inChild {
      // Only what needs no lock that another thread may have held at the fork.
      if ForkGuard.generation != before + 1 { return 1 }
      if clx_guarded_count() != 0 { return 2 }
      var facts = stat()
      for descriptor in Int32(0)..<200 where fstat(descriptor, &facts) == 0 {
        if UInt64(facts.st_ino) == identity.inode, UInt64(facts.st_dev) == identity.device {
          return 3
        }
      }
      return 42
    }
    #expect(result == 42)
    #expect(ForkGuard.generation == before)
    // The child's end took nothing from the parent.
    #expect(LockReport.of(databasePath: scratch.database).holder?.process?.pid == getpid())
    turn.finish()
  }
}
