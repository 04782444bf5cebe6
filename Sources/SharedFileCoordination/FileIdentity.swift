import Glibc

/// Which file it is, whatever its name: device and inode.
package struct FileIdentity: Hashable, Sendable, Codable {
  /// Device number as stat(2) gives it.
  package var device: UInt64
  /// Inode number.
  package var inode: UInt64

  /// Makes an identity from device and inode numbers.
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// Returns the identity of the file that a path leads to, or nil when there is none to be seen.
  ///
  /// Asks by path only: no descriptor is made, so no lock of this process can be lost.
  package static func of(path: String) -> FileIdentity? {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return nil }
    return FileIdentity(facts)
  }

  init(_ facts: stat) {
    device = UInt64(facts.st_dev)
    inode = UInt64(facts.st_ino)
  }
}
