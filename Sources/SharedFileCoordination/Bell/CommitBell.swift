import CLinuxShims

/// The bell: one small write and one time stamp on the lock file.
///
/// The stamp is what rings (IN_ATTRIB), not the write: watchers do not listen to writes, so records
/// and tickets written into the same file wake nobody. The counter lets whoever wakes see cheaply
/// whether anything was rung since it last looked.
enum CommitBell {
  /// Rings; never fails, since a bell that nobody hears costs a poll interval and nothing else.
  ///
  /// - Parameter known: The counter, where the caller has kept others from ringing since it was read.
  /// - Returns: The counter afterwards.
  @discardableResult
  static func ring(_ file: LockFile, known: UInt64? = nil) -> UInt64 {
    let counter = known ?? read(file.descriptor) ?? 0
    var image = ByteImage(count: 8)
    image.put(counter &+ 1, at: 0)
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.counterOffset, path: file.path)
    _ = clx_touch(file.descriptor.number)
    return counter &+ 1
  }

  /// Returns the counter, or nil when it cannot be read.
  static func read(_ descriptor: GuardedDescriptor) -> UInt64? {
    var image = ByteImage(count: 8)
    guard FileBytes.read(&image, from: descriptor, at: LockFileLayout.counterOffset) else {
      return nil
    }
    return image.number(at: 0, as: UInt64.self)
  }
}
