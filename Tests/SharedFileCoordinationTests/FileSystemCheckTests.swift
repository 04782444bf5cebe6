import Foundation
import SharedFileCoordination
import Testing

@Suite struct FileSystemCheckTests {
  private static let mounts = """
    22 27 0:21 / /proc rw,relatime - proc proc rw
    27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
    40 27 0:40 / /srv/my\\040share rw - fuse.sshfs user@host: rw
    41 27 0:41 / /srv/disk rw shared:1 master:2 - fuseblk /dev/sdb1 rw
    42 27 0:42 / /srv/vm rw - virtiofs host rw
    43 27 0:43 / /srv/over rw - overlay overlay rw
    44 43 0:44 / /srv/over rw - tmpfs tmpfs rw
    """

  @Test(arguments: [
    (0x6969 as UInt64, "NFS"), (0x517B, "SMB/CIFS"), (0xFF53_4D42, "SMB/CIFS"),
    (0x0102_1997, "9p"), (0x00C3_6400, "Ceph"),
  ])
  func `a network file system is refused by its magic number`(magic: UInt64, kind: String) {
    let verdict = FileSystemCheck.judge(magic: magic, directory: "/x", mountInfo: Self.mounts)
    #expect(verdict.kind.contains(kind))
    #expect(verdict.refusal != nil)
  }

  @Test(arguments: [
    (0xEF53 as UInt64, "/home", "ext4", false),
    (0x0102_1994, "/srv/over/x", "tmpfs", false),
    (0x6573_5546, "/srv/my share/x", "FUSE (fuse.sshfs)", true),
    (0x6573_5546, "/srv/disk", "FUSE (fuseblk)", false),
    (0x6573_5546, "/srv/vm", "FUSE (virtiofs)", true),
    (0x1234, "/srv/vm/x", "virtiofs", true),
    (0x1234, "/srv/vmx", "ext4", false),
  ])
  func `what is behind is told by the mount table`(
    magic: UInt64, directory: String, kind: String, isRefused: Bool
  ) {
    let verdict = FileSystemCheck.judge(
      magic: magic, directory: directory, mountInfo: Self.mounts)
    #expect(verdict.kind == kind)
    #expect((verdict.refusal != nil) == isRefused)
  }

  @Test func `a local directory passes and nothing is left behind`() throws {
    let scratch = try Scratch()
    try FileSystemCheck.check(directory: scratch.path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
  }

  @Test func `a missing directory is said`() {
    let error = #expect(throws: CoordinationError.self) {
      try FileSystemCheck.check(directory: "/nowhere/at/all")
    }
    guard case .directoryMissing("/nowhere/at/all") = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
