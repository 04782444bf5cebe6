import Glibc

/// A number that tells whether somebody of ours has been attached to the database all the time.
///
/// SQLite's change counter, by which commits of foreign programs are accounted for, lives in the memory
/// that attached processes share. It starts again when the last of them leaves, and a foreign program can
/// then make it reach just the value that a reader expects. So a counter means something only together
/// with this number: it is renewed whenever nobody of ours was attached for a moment, that is by a process
/// that finds itself alone when it opens, and by one that is alone when it closes.
///
/// Three rules make that sound. Whoever opens is attached to the database *before* it takes its slot, so a
/// process that sees the slot knows that the shared memory is held by another. An opener counts only those
/// who are settled, that is who have been through the same decision: of two that open at once, one renews.
/// And the number is read under the write lease for each commit, and renewed by a closing process under it,
/// so all who commit use the same one. To renew too often is harmless.
extension CoordinationFile {
  /// The number now; nil when it cannot be read, so that nothing can be said.
  package var continuity: Int64? {
    existingFile.flatMap { CoordinationFile.readContinuity($0.descriptor) }
  }

  /// The number now, made when a lock file that was deleted or damaged has been made anew without one.
  ///
  /// Call with the write lease held and the database attached: a fresh number equals none that was stored.
  package func establishedContinuity() -> Int64? {
    if let number = continuity { return number }
    renew()
    return continuity
  }

  /// Returns the number for a process without a slot; nil when it cannot be read, or when nobody who has one
  /// vouches for it.
  ///
  /// Call with the database attached.
  package static func continuity(forDatabase databasePath: String) -> Int64? {
    guard let (descriptor, _, _) = LockFile.openForLooking(path: path(forDatabase: databasePath)),
      let before = readContinuity(descriptor)
    else { return nil }
    let isVouchedFor = (0..<LockFileLayout.maximumSlotCount).contains {
      ByteLock.isLockedByOther(LockFileLayout.settledByte(slot: $0), of: descriptor)
    }
    return isVouchedFor && readContinuity(descriptor) == before ? before : nil
  }

  /// Renews the number when no other process has settled, and settles.
  ///
  /// Call while opening, with the migration lease held and the database attached.
  ///
  /// - Parameter log: looks at the log's index; nil when there is none.
  package func settleContinuity(_ log: () -> LogState?) {
    guard let file = existingFile else { return }
    if !hasOther(by: LockFileLayout.settledByte) {
      let proof = Self.proven(file.descriptor, databasePath: databasePath, log)
      renew()
      noteBridge(proof)
    }
    // A process without a slot vouches for nobody.
    guard let slotNumber else { return }
    _ = try? ByteLock.tryLock(
      LockFileLayout.settledByte(slot: slotNumber), of: file.descriptor, path: file.path)
  }

  /// Renews the number when no other process has a slot.
  ///
  /// Call while closing, with the write lease held and the database still attached.
  package func renewContinuityIfAlone() {
    if !hasOtherMember { renew() }
  }

  /// Whether another process, or another open database of this one, has a slot.
  package var hasOtherMember: Bool { hasOther(by: LockFileLayout.presenceByte) }

  private func hasOther(by byte: (Int) -> Int64) -> Bool {
    guard let file = existingFile else { return false }
    return (0..<file.slotCount).contains { slot in
      slot != slotNumber && ByteLock.isLockedByOther(byte(slot), of: file.descriptor)
    }
  }

  private func renew() {
    guard let file = existingFile else { return }
    var image = ByteImage(count: 8)
    image.put(Int64.random(in: 1...Int64.max), at: 0)
    // Without room for it the number stays what it was or becomes unreadable; a file that was damaged is
    // made good with zero, which counts as unreadable.
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.continuityOffset, path: file.path)
  }

  static func readContinuity(_ descriptor: GuardedDescriptor) -> Int64? {
    var image = ByteImage(count: 8)
    guard FileBytes.read(&image, from: descriptor, at: LockFileLayout.continuityOffset) else {
      return nil
    }
    let number = image.number(at: 0, as: Int64.self)
    return number > 0 ? number : nil
  }
}
