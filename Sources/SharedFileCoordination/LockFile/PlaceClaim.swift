// Numbered places of which each has one owner at most, as long as the owner lives.
//
// For: a name that only one process may use at a time (a durable consumer of the change feed). Whoever
// gives names their numbers does so in the database; here is the kernel's lock that dies with its owner.
//
// Two claims of one `CoordinationFile` do not keep each other out, since they share a descriptor: its
// owner keeps account of those. When the lock file is deleted and made anew, a claim on the old file
// means nothing on the new one; what must not happen twice needs a second guard.

import Synchronization

/// One place, owned until it is released or let go of.
package final class PlaceClaim: Sendable {
  private let file: LockFile
  private let isHeld = Atomic(true)
  /// Which place.
  package let place: Int64

  fileprivate init(file: LockFile, place: Int64) {
    self.file = file
    self.place = place
  }

  /// Whether the lock file is still the one that others open.
  package var isEffective: Bool { file.isAtItsPath }

  /// Gives the place up, whoever still refers to this.
  ///
  /// Once only: the next one to have it may lock it through the same descriptor.
  package func release() {
    guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    ByteLock.unlock(LockFileLayout.placeByte(place), of: file.descriptor)
  }

  deinit { release() }
}

/// What came of asking for a place.
package enum PlaceOutcome: Sendable {
  /// It is ours.
  case claimed(PlaceClaim)
  /// Another process has it, or another open database of this one.
  case taken
  /// There is no lock file to be had, so that nothing can be said.
  case unavailable
}

extension CoordinationFile {
  /// Asks for a place.
  package func claim(place: Int64) throws(CoordinationError) -> PlaceOutcome {
    guard let file = existingFile else { return .unavailable }
    let isOurs = try ByteLock.tryLock(
      LockFileLayout.placeByte(place), of: file.descriptor, path: file.path)
    return isOurs ? .claimed(PlaceClaim(file: file, place: place)) : .taken
  }

  /// Whether somebody else has a place.
  package func isClaimedByOther(place: Int64) -> Bool {
    guard let file = existingFile else { return false }
    return ByteLock.isLockedByOther(LockFileLayout.placeByte(place), of: file.descriptor)
  }

  /// Returns which of some places are owned by anybody, as seen without a slot.
  package static func claimed(
    places: [Int64], forDatabase databasePath: String
  ) -> Set<Int64> {
    guard let (descriptor, _, _) = LockFile.openForLooking(path: path(forDatabase: databasePath))
    else { return [] }
    return Set(
      places.filter { ByteLock.isLockedByOther(LockFileLayout.placeByte($0), of: descriptor) })
  }
}
