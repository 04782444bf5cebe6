import Glibc

/// A number that tells whether somebody of ours has been attached to the database all the time.
///
/// SQLite's change counter, by which commits of foreign programs are accounted for, lives in the memory
/// that attached processes share. It starts again when the last of them leaves, and a foreign program can
/// then make it reach just the value that a reader expects. So a counter means something only together
/// with this number: it is renewed whenever nobody of ours was attached for a moment, that is by a process
/// that finds itself alone when it opens, and by one that is alone when it closes.
///
/// Two rules make that sound. Whoever opens is attached to the database *before* it takes its slot, so a
/// process that sees the slot knows that the shared memory is held by another. And the number is read under
/// the write lease for each commit, and renewed by a closing process under it, so all who commit use the
/// same one.
extension CoordinationFile {
  /// The number now; nil when it cannot be read, so that nothing can be said.
  package var continuity: Int64? {
    existingFile.flatMap { CoordinationFile.readContinuity($0.descriptor) }
  }

  /// Returns the number of a database that this process has not joined; nil when it cannot be read.
  package static func continuity(forDatabase databasePath: String) -> Int64? {
    LockFile.openForLooking(path: path(forDatabase: databasePath)).flatMap {
      readContinuity($0.0)
    }
  }

  /// Renews the number when no other process has a slot.
  ///
  /// Call while opening, with the migration lease held and the database attached; or while closing, with
  /// the write lease held and the database still attached.
  package func renewContinuityIfAlone() {
    guard let file = existingFile else { return }
    for slot in 0..<file.slotCount where slot != slotNumber {
      if ByteLock.isLockedByOther(LockFileLayout.presenceByte(slot: slot), of: file.descriptor) {
        return
      }
    }
    var image = ByteImage(count: 8)
    image.put(Int64.random(in: 1...Int64.max), at: 0)
    // Without room for it the number stays what it was or becomes unreadable; a file that was damaged is
    // made good with zero, which counts as unreadable.
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.continuityOffset, path: file.path)
  }

  private static func readContinuity(_ descriptor: GuardedDescriptor) -> Int64? {
    var image = ByteImage(count: 8)
    guard FileBytes.read(&image, from: descriptor, at: LockFileLayout.continuityOffset) else {
      return nil
    }
    let number = image.number(at: 0, as: Int64.self)
    return number > 0 ? number : nil
  }
}
