// From the last session to the next, when it can be proven that nobody came between.
//
// For: SQLite's change counter starts again when everybody has left, and so does the continuity. A
// reader that stopped in one session and goes on in the next would have to be told "everything" each
// time, although mostly nobody has touched the file meanwhile.
//
// Leaving, by the last of ours, under the write lease and attached:
//  1. all pages of the log are moved into the database file, and the log is cut to nothing;
//  2. wait until the clock by which the kernel stamps files has gone past the file's last change;
//  3. stat(2) of the database file;
//  4. read the change counter, and find the log still empty;
//  5. note continuity, counter and what stat said ("at rest"); detach.
// Coming, by the first of ours, under the migration lease and attached:
//  6. read the change counter, and find the log empty;
//  7. stat(2): the database file is as noted, and the log file holds nothing;
//  8. renew the continuity and note that it goes on from the noted one (the bridge).
//
// Why it is sound: a commit after 4 lies in the log. For it to be gone at 6 and 7 a checkpoint must have
// written it into the database file, later than 2, so that the file's time of change is another than at
// 3; no program can set that time. A commit before 4 is in the counter. One between 6 and 7 makes the
// counter go on from what was read at 6. Outside WAL mode every commit writes the database file.
//
// What it rests on: that the kernel's wall clock is not set back to just the noted nanosecond, and that
// the file system keeps times finer than a second (else nothing is noted). Death at any step leaves no
// note, or one whose times are not the file's: then nothing is proven, as if this were not here.

import Glibc

/// What a session's counting goes on from: nobody has committed between.
package struct ContinuityBridge: Equatable, Sendable {
  /// The continuity of the last session.
  package var formerContinuity: Int64
  /// The change counter with which it ended.
  package var formerCounter: UInt32
  /// The continuity of this one; 0 for a reader without a slot.
  package var continuity: Int64
  /// The change counter with which it began.
  package var counter: UInt32

  /// Creates a bridge from its ends.
  package init(
    formerContinuity: Int64, formerCounter: UInt32, continuity: Int64, counter: UInt32
  ) {
    self.formerContinuity = formerContinuity
    self.formerCounter = formerCounter
    self.continuity = continuity
    self.counter = counter
  }
}

/// What a log's index says of the moment: the change counter, and whether the log is empty.
package struct LogState: Sendable {
  /// The change counter.
  package var counter: UInt32
  /// Whether the log holds no frame.
  package var isEmpty: Bool

  /// Creates a state.
  package init(counter: UInt32, isEmpty: Bool) {
    self.counter = counter
    self.isEmpty = isEmpty
  }
}

/// The database file as stat(2) sees it; two equal ones mean that nobody has written between.
package struct FileRest: Equatable, Sendable {
  var identity: FileIdentity
  var size: Int64
  /// When it was last changed, by the kernel's wall clock.
  var seconds: Int64
  var nanoseconds: Int64

  /// Looks at a file; nil when there is none, or its times are too coarse.
  package static func of(path: String) -> FileRest? {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_ctim.tv_nsec != 0 else { return nil }
    return FileRest(
      identity: FileIdentity(facts), size: Int64(facts.st_size),
      seconds: Int64(facts.st_ctim.tv_sec), nanoseconds: Int64(facts.st_ctim.tv_nsec))
  }

  /// Whether a write from now on is sure to get another time.
  package var isPast: Bool {
    var tick = timespec()
    var now = timespec()
    guard clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0,
      clock_gettime(CLOCK_REALTIME_COARSE, &now) == 0
    else { return false }
    let age =
      (Int64(now.tv_sec) - seconds) * 1_000_000_000 + Int64(now.tv_nsec) - nanoseconds
    return age > Int64(tick.tv_nsec)
  }
}

extension CoordinationFile {
  /// How long a closing process waits at most for the file's clock to go on; its tick is 1 to 10 ms.
  private static let patience = Duration.milliseconds(40)

  /// Notes that all that was ever committed is in the database file.
  ///
  /// Call with the write lease held and the database attached, after a checkpoint that has emptied the log.
  ///
  /// - Parameter log: looks at the log's index; nil when there is none.
  package func noteRest(_ log: () -> LogState?) {
    guard let file = existingFile, let continuity, !hasOtherMember else { return }
    let end = BootClock.now(advancedBy: Self.patience)
    guard var rest = FileRest.of(path: databasePath) else { return }
    while !rest.isPast {
      guard BootClock.now() < end else { return }
      // No event tells that the file system's clock has gone on.
      usleep(1000)
      guard let again = FileRest.of(path: databasePath) else { return }
      rest = again
    }
    guard let state = log(), state.isEmpty else { return }
    // A session in which nobody has committed adds nothing: what was noted before is still true.
    if Self.readRest(file.descriptor)?.rest == rest { return }
    let image = Self.image(of: [
      continuity, Int64(state.counter), Int64(bitPattern: rest.identity.device),
      Int64(bitPattern: rest.identity.inode), rest.size, rest.seconds, rest.nanoseconds,
    ])
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.restOffset, path: file.path)
  }

  /// The bridge to the present continuity; nil when there is none.
  package var bridge: ContinuityBridge? {
    guard let file = existingFile, let bridge = Self.readBridge(file.descriptor),
      bridge.continuity == Self.readContinuity(file.descriptor)
    else { return nil }
    return bridge
  }

  /// The same, for a process without a slot: to the present continuity, or, where the database is at rest,
  /// to what this process sees.
  ///
  /// - Parameter log: looks at the log's index; nil when there is none.
  package static func bridge(
    forDatabase databasePath: String, continuity: Int64?, _ log: () -> LogState?
  ) -> ContinuityBridge? {
    guard let (descriptor, _, _) = LockFile.openForLooking(path: path(forDatabase: databasePath))
    else { return nil }
    if let continuity {
      guard let bridge = readBridge(descriptor), bridge.continuity == continuity else {
        return nil
      }
      return bridge
    }
    return proven(descriptor, databasePath: databasePath, log)
  }

  /// Writes that the present continuity goes on from the noted rest, or that it goes on from nothing.
  ///
  /// - Parameter proof: what `proven` gave before the continuity was renewed.
  func noteBridge(_ proof: ContinuityBridge?) {
    guard let file = existingFile else { return }
    var image = ByteImage(count: Self.image(of: [0, 0, 0, 0]).bytes.count)
    if let proof, let continuity = Self.readContinuity(file.descriptor) {
      image = Self.image(of: [
        proof.formerContinuity, Int64(proof.formerCounter), continuity, Int64(proof.counter),
      ])
    }
    try? FileBytes.write(
      image, to: file.descriptor, at: LockFileLayout.bridgeOffset, path: file.path)
  }

  /// Returns where counting goes on from, when nobody has committed since the noted rest.
  static func proven(
    _ descriptor: GuardedDescriptor, databasePath: String, _ log: () -> LogState?
  ) -> ContinuityBridge? {
    // In this order; see above, 6 and 7.
    guard let state = log(), state.isEmpty, let noted = readRest(descriptor),
      FileRest.of(path: databasePath) == noted.rest
    else { return nil }
    var wal = stat()
    guard stat(databasePath + "-wal", &wal) != 0 || wal.st_size == 0 else { return nil }
    return ContinuityBridge(
      formerContinuity: noted.continuity, formerCounter: noted.counter, continuity: 0,
      counter: state.counter)
  }

  private static func readRest(
    _ descriptor: GuardedDescriptor
  ) -> (continuity: Int64, counter: UInt32, rest: FileRest)? {
    guard let numbers = read(7, from: descriptor, at: LockFileLayout.restOffset) else { return nil }
    return (
      numbers[0], UInt32(truncatingIfNeeded: numbers[1]),
      FileRest(
        identity: FileIdentity(
          device: UInt64(bitPattern: numbers[2]), inode: UInt64(bitPattern: numbers[3])),
        size: numbers[4], seconds: numbers[5], nanoseconds: numbers[6])
    )
  }

  private static func readBridge(_ descriptor: GuardedDescriptor) -> ContinuityBridge? {
    guard let numbers = read(4, from: descriptor, at: LockFileLayout.bridgeOffset) else {
      return nil
    }
    return ContinuityBridge(
      formerContinuity: numbers[0], formerCounter: UInt32(truncatingIfNeeded: numbers[1]),
      continuity: numbers[2], counter: UInt32(truncatingIfNeeded: numbers[3]))
  }

  // MARK: Records of numbers with a checksum

  private static func image(of numbers: [Int64]) -> ByteImage {
    var image = ByteImage(count: numbers.count * 8 + 8)
    for (index, number) in numbers.enumerated() { image.put(number, at: index * 8) }
    image.put(
      GuardedRecord.checksum(image.bytes[0..<(numbers.count * 8)]), at: numbers.count * 8)
    return image
  }

  private static func read(
    _ count: Int, from descriptor: GuardedDescriptor, at offset: Int
  ) -> [Int64]? {
    var image = ByteImage(count: count * 8 + 8)
    guard FileBytes.read(&image, from: descriptor, at: offset),
      image.number(at: count * 8, as: UInt64.self)
        == GuardedRecord.checksum(image.bytes[0..<(count * 8)])
    else { return nil }
    return (0..<count).map { image.number(at: $0 * 8, as: Int64.self) }
  }
}
