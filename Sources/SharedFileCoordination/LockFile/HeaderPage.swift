/// The first page of the lock file as one pread gives it: header, counter, turns, queue.
///
/// Not a snapshot: entries may be a few microseconds apart. Each is whole by itself (numbers are
/// aligned, records are guarded), and whoever acts on it takes a lock first.
struct HeaderPage {
  private(set) var image = ByteImage(count: LockFileLayout.pageSize)
  private(set) var header: LockFileHeader?

  /// Reads the page again.
  ///
  /// - Returns: False when the file is too short or its header is not valid.
  mutating func load(from file: LockFile) throws(CoordinationError) -> Bool {
    try load(from: file.descriptor, path: file.path)
  }

  /// Reads the page again through any descriptor of the file.
  mutating func load(
    from descriptor: GuardedDescriptor, path: String
  ) throws(CoordinationError) -> Bool {
    guard FileBytes.read(&image, from: descriptor, at: 0) else {
      header = nil
      return false
    }
    header = try LockFileHeader(image, path: path)
    return header != nil
  }

  var commitCounter: UInt64 { image.number(at: LockFileLayout.counterOffset, as: UInt64.self) }

  /// The write lease's current or last turn, nil when the record is torn or was never written.
  var turn: TurnRecord? { record(at: LockFileLayout.turnOffset) }

  /// The number of the last turn as far as it can be read; good enough to see that it changed.
  var turnNumber: UInt64 { image.number(at: LockFileLayout.turnOffset, as: UInt64.self) }

  /// The migration lease's current or last turn.
  var migration: TurnRecord? { record(at: LockFileLayout.migrationOffset) }

  func queueEntry(slot: Int) -> LeaseQueue.Entry {
    let offset = LockFileLayout.queueEntryOffset(slot: slot)
    return LeaseQueue.Entry(
      slot: slot, ticket: image.number(at: offset, as: UInt64.self),
      passedOver: image.number(at: offset + 8, as: UInt64.self))
  }

  /// All entries of the queue table that are not empty, by slot.
  var queue: [LeaseQueue.Entry] {
    guard let header else { return [] }
    var entries: [LeaseQueue.Entry] = []
    // Twice in each turn, and nearly always empty.
    image.bytes.withUnsafeBytes { raw in
      for slot in 0..<header.slotCount {
        let offset = LockFileLayout.queueEntryOffset(slot: slot)
        if raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 {
          entries.append(queueEntry(slot: slot))
        }
      }
    }
    return entries
  }

  private func record(at offset: Int) -> TurnRecord? {
    TurnRecord(ByteImage(Array(image.bytes[offset..<(offset + TurnRecord.size)])))
  }
}
