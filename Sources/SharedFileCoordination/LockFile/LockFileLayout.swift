// The lock file: where every byte is, and who may change it when.
//
// For: one file beside the database (`app.db-lock`) through which processes that share the
// database take turns, know of each other and ring.
//
//      0 ┌──────────────────────────────┐ header: magic 8, version 4, slot count 4, epoch 8,
//        │ header                       │ checksum 8. Changed only under the init byte.
//     64 │ commit counter, 8 bytes      │ Changed by who has the write lease; a lost step is
//        │                              │ harmless, since the counter only says "look".
//     72 │ continuity, 8 bytes          │ Changed by who is alone: at opening under the migration
//        │                              │ lease, at closing under the write lease.
//    128 │ at rest, 64 bytes            │ Changed by who is alone at closing, under the write lease.
//    192 │ bridge, 40 bytes             │ Changed by who is alone at opening, under the migration
//        │                              │ lease. Both: `ContinuityBridge.swift`.
//    256 │ current turn, 256 bytes      │ Changed by the holder of the write lease.
//    512 │ current migration, 256 bytes │ Changed by the holder of the migration lease.
//   2048 │ queue table, 16 bytes a slot │ Ticket: changed by the slot's owner (and by a holder
//        │                              │ who has locked the slot's byte because its owner is
//        │                              │ dead). Passed over: by the holder of the write lease;
//        │                              │ the owner puts there, marked, when it came, if it yields.
//   4096 ├──────────────────────────────┤
//        │ slot records, 512 bytes each │ Changed by the slot's owner.
//        └──────────────────────────────┘
//   1 GiB: lock bytes; no content is ever there. +0 write lease, +1 migration lease, +2 init,
//          +3 shared by all who listen to the bell (`ListenerPresence.swift`);
//          +16 … one presence byte a slot; +256 … one byte a slot that says "settled" (continuity);
//          +1024 … one byte a numbered place (`PlaceClaim.swift`).
//
// Everything is little-endian, read and written with pread and pwrite. Not mapped: a mapping that
// somebody truncates kills every process that touches it (SIGBUS), and so does a page that a full
// disk cannot back.
//
// Invariants
//  1. A lock byte is the truth, a record is a hint. A slot whose byte is free is nobody's; the
//     current turn means something only while the lease byte is locked.
//  2. A record carries a number at front and back and a checksum between them. The numbers alone
//     would not do: pwrite and pread both go forward, so a reader can see new front, old middle
//     and new back. A reader that finds them at odds reads again, a few times, then says "unknown".
//  3. No record lies across a page, so a writer that is killed leaves it whole or not at all.
//  4. The header is written last when a file is made or made good; a file without a valid header
//     is nobody's yet.
//
// Death at any instruction: the kernel frees the bytes. What the dead left in the records is
// ignored by 1 and overwritten by the next owner.

/// Offsets and sizes of the lock file.
package enum LockFileLayout {
  /// The first eight bytes of a lock file: `BtqLock` and a line feed.
  package static let magic: UInt64 = 0x0A6B_636F_4C71_7442
  /// The version of everything in this file.
  package static let version: UInt32 = 1
  /// As many slots as the queue table has room for.
  package static let maximumSlotCount = 128

  package static let pageSize = 4096
  package static let counterOffset = 64
  package static let continuityOffset = 72
  package static let restOffset = 128
  package static let bridgeOffset = 192
  package static let turnOffset = 256
  package static let migrationOffset = 512
  package static let queueOffset = 2048
  package static let queueEntrySize = 16
  package static let slotsOffset = 4096
  package static let slotSize = 512

  /// First of the lock bytes, far past the content.
  package static let lockBase: Int64 = 1 << 30
  package static let writeLeaseByte = lockBase
  package static let migrationByte = lockBase + 1
  package static let initByte = lockBase + 2
  package static let listenersByte = lockBase + 3

  /// Returns the byte whose lock says that a slot has a living owner.
  package static func presenceByte(slot: Int) -> Int64 { lockBase + 16 + Int64(slot) }

  /// Returns the byte whose lock says that a slot's owner has settled the continuity (`Continuity.swift`).
  package static func settledByte(slot: Int) -> Int64 { lockBase + 256 + Int64(slot) }

  /// Returns the byte whose lock says that a numbered place has an owner.
  package static func placeByte(_ place: Int64) -> Int64 { lockBase + 1024 + place }

  /// Returns the offset of a slot's entry in the queue table.
  package static func queueEntryOffset(slot: Int) -> Int {
    queueOffset + slot * queueEntrySize
  }

  /// Returns the offset of a slot's record.
  package static func slotOffset(slot: Int) -> Int { slotsOffset + slot * slotSize }

  /// Returns the size of a lock file with so many slots.
  package static func fileSize(slotCount: Int) -> Int { slotsOffset + slotCount * slotSize }

  /// Returns the name of what a lock byte stands for, for reports.
  package static func name(ofLockByte byte: Int64) -> String? {
    switch byte {
    case writeLeaseByte: "write lease"
    case migrationByte: "migration lease"
    case initByte: "initialisation"
    case listenersByte: "bell listener"
    case presenceByte(slot: 0)..<presenceByte(slot: maximumSlotCount):
      "slot \(byte - presenceByte(slot: 0))"
    case placeByte(0)...:
      "consumer \(byte - placeByte(0))"
    default: nil
    }
  }
}
