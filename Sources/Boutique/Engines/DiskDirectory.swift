// The directory of a `DiskStorageEngine`: a file for each key, shared by several processes.
//
// Files of its own, beside those of the keys:
//   .lock       locked by flock(2): shared to read, exclusively to write. Holds two numbers of 8 bytes: the last
//               sequence given to a key, and how many transactions there have been.
//   .new        a directory: what is to become files of keys.
//   .journal    what is left to do of a transaction that is decided: which new files get which names, which
//               files go.
//
// Invariants
//  1. A file of a key is never changed: another takes its name (rename). So a reader has the old or the new one.
//  2. A transaction of several files is decided when .journal has its name. Before, none of it can be seen; after,
//     nobody reads or writes before all of it is done, by whoever comes first. Errors after that moment do not
//     undo it: the new files stay until it is done.
//  3. The number of transactions grows before the first file is touched, under the exclusive lock. So whoever
//     reads under the lock and finds the number as it was has missed nothing.
//  4. A sequence is given once. The number is on the disk before a file has it; when .lock is lost, the largest
//     sequence of all files takes its place.
//
// Steps of a transaction: lock → finish what .journal says → count → write new files, each synced → .journal
// (with one file: none; the rename decides) → renames and removals → sync the directory → remove .journal → unlock.
//
// At death the kernel takes the lock away. Before .journal: new files stay, which the next one to write removes;
// after it: the next one to come finishes. No room: new files are removed again, nothing was changed.

import BoutiqueDB
import Foundation
import Glibc

/// Used on the engine's queue alone; see the head of this file.
final class DiskDirectory {
  /// What tells one file from another that has taken its name.
  private struct Identity: Equatable {
    var inode: UInt64
    var seconds: Int
    var nanoseconds: Int
    var size: Int64
  }

  private struct Known {
    var identity: Identity
    var sequence: Int64
    /// The transaction at which it was noticed that it is new or changed.
    var noticed: Int64
    /// Whether this engine wrote it.
    var isOwn: Bool
  }

  private struct Counters {
    var sequence: Int64 = 0
    var transaction: Int64 = 0
  }

  private struct Journal: Codable {
    /// Names by the new files that get them.
    var moves: [String: String] = [:]
    var removals: [String] = []
  }

  private let path: String
  private let lockTimeout: Duration
  private var history = UUID().uuidString
  private var lock: CInt = -1
  private var index: [String: Known] = [:]
  /// Of which transaction the index is; nil before the first look.
  private var indexed: Int64?
  private var gone: [(noticed: Int64, place: Int64, isOwn: Bool)] = []
  private var goneSince: Int64 = 0

  init(path: String, lockTimeout: Duration) {
    self.path = path
    self.lockTimeout = lockTimeout
  }

  deinit { if lock >= 0 { close(lock) } }

  private func file(_ name: String) -> String { path + "/" + name }
  private var lockPath: String { file(".lock") }
  private var journalPath: String { file(".journal") }
  private func newFile(_ name: String) -> String { path + "/.new/" + name }

  // MARK: The lock

  private func open() throws {
    if lock >= 0 {
      // Somebody may have removed the directory, or put another in its place.
      var (mine, there) = (stat(), stat())
      if fstat(lock, &mine) == 0, lstat(lockPath, &there) == 0, mine.st_ino == there.st_ino,
        mine.st_dev == there.st_dev
      {
        return
      }
      close(lock)
      lock = -1
      history = UUID().uuidString
      (index, indexed, gone, goneSince) = ([:], nil, [], 0)
    }
    do {
      try DirectoryMaking.make(path)
    } catch {
      throw error.error
    }
    lock = try DiskFileCalls.open(lockPath, O_RDWR | O_CREAT)
  }

  private func acquire(_ operation: CInt) throws {
    let clock = ContinuousClock()
    let start = clock.now
    var pause: useconds_t = 200
    while flock(lock, operation | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw DiskFileCalls.failure("flock", lockPath)
      }
      let waited = start.duration(to: clock.now)
      guard waited < lockTimeout else {
        throw BoutiqueError.lockTimeout(
          LockTimeout(path: lockPath, waited: waited, holder: DiskLockHolder.find(lock)))
      }
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
  }

  /// Runs something under the lock, with nothing left of an earlier transaction.
  private func locked<R>(_ operation: CInt, _ body: () throws -> R) throws -> R {
    while true {
      try open()
      try acquire(operation)
      defer { flock(lock, LOCK_UN) }
      var there = stat()
      var mine = stat()
      // It may have been removed while this waited.
      guard lstat(lockPath, &there) == 0, fstat(lock, &mine) == 0, there.st_ino == mine.st_ino
      else { continue }
      if access(journalPath, F_OK) == 0 {
        if operation != LOCK_EX { try acquire(LOCK_EX) }
        // The lock was let go of for a moment.
        if access(journalPath, F_OK) == 0 { try finish() }
      }
      return try body()
    }
  }

  // MARK: Counters

  private func counters() throws -> Counters {
    var words: [Int64] = [0, 0]
    let count = words.withUnsafeMutableBytes { pread(lock, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw DiskFileCalls.failure("pread", lockPath) }
    guard count == 16 else {
      var counters = Counters()
      for name in try DiskFileCalls.names(in: path) {
        if let item = try readHead(name) {
          counters.sequence = max(counters.sequence, item.sequence)
        }
      }
      // No earlier number of transactions is that of now.
      counters.transaction = Int64(Date().timeIntervalSince1970 * 1_000_000)
      return counters
    }
    return Counters(sequence: words[0], transaction: words[1])
  }

  private func write(_ counters: Counters) throws {
    let words = [counters.sequence, counters.transaction]
    let count = words.withUnsafeBytes { pwrite(lock, $0.baseAddress, $0.count, 0) }
    guard count == 16, fdatasync(lock) == 0 else { throw DiskFileCalls.failure("pwrite", lockPath) }
  }

  /// The number of transactions, without the lock: to be looked at for news.
  func transactionNumber() throws -> Int64 {
    try open()
    return try counters().transaction
  }

  // MARK: Writing

  /// Does several things, all or nothing.
  func apply(_ operations: [StorageOperation]) throws {
    guard !operations.isEmpty else { return }
    try locked(LOCK_EX) {
      var counters = try counters()
      let before = counters.transaction
      try prepareNewFiles()
      let ends = try ends(of: operations)
      counters.transaction += 1
      let (journal, sequences) = try stage(ends, &counters)
      let isSingle = journal.moves.count + journal.removals.count == 1
      do {
        try write(counters)
        if isSingle { try finish(journal) } else { try decide(journal) }
      } catch {
        for new in journal.moves.keys { unlink(newFile(new)) }
        throw error
      }
      if !isSingle { try finishDecided() }
      note(journal, sequences, before, counters.transaction)
    }
  }

  /// What several operations leave of one name.
  private struct End {
    /// The key and the data; nil when there is nothing.
    var content: (key: CacheKey, data: Data)?
    /// Whether what was there before is gone in any case.
    var isNew: Bool
    /// The place in the order of writing.
    var rank: Int
  }

  /// Returns what operations come to, name by name, in the order in which new ones are written.
  private func ends(of operations: [StorageOperation]) throws -> [(name: String, end: End)] {
    var ends: [String: End] = [:]
    var rank = 0
    for operation in operations {
      rank += 1
      switch operation {
      case .write(let key, let data):
        let name = DiskItemFile.name(of: key)
        let old = ends[name]
        ends[name] = End(
          content: (key, data), isNew: old?.isNew ?? false,
          rank: old?.content == nil ? rank : old?.rank ?? rank)
      case .remove(let key):
        ends[DiskItemFile.name(of: key)] = End(content: nil, isNew: true, rank: rank)
      case .removeAll:
        for name in Set(ends.keys).union(try DiskFileCalls.names(in: path)) {
          ends[name] = End(content: nil, isNew: true, rank: rank)
        }
      }
    }
    return ends.map { ($0.key, $0.value) }.sorted { $0.end.rank < $1.end.rank }
  }

  private func stage(
    _ ends: [(name: String, end: End)], _ counters: inout Counters
  ) throws -> (Journal, sequences: [String: Int64]) {
    let now = Date()
    var journal = Journal()
    var sequences: [String: Int64] = [:]
    do {
      for (name, end) in ends {
        guard let (key, data) = end.content else {
          journal.removals.append(name)
          continue
        }
        var item = DiskItemFile(sequence: 0, created: now, updated: now, key: key)
        if !end.isNew, let old = try readHead(name) {
          (item.sequence, item.created) = (old.sequence, old.created)
        } else {
          counters.sequence += 1
          item.sequence = counters.sequence
        }
        let new = UUID().uuidString
        try DiskFileCalls.create(newFile(new), [item.head, data])
        journal.moves[new] = name
        sequences[name] = item.sequence
      }
    } catch {
      for new in journal.moves.keys { unlink(newFile(new)) }
      throw error
    }
    return (journal, sequences)
  }

  /// Makes what was staged certain to be done; where it throws, nothing is decided.
  private func decide(_ journal: Journal) throws {
    let new = newFile("journal")
    try DiskFileCalls.create(new, [try JSONEncoder().encode(journal)])
    do {
      try DiskFileCalls.move(new, to: journalPath)
    } catch {
      unlink(new)
      throw error
    }
  }

  /// Does what a transaction that is decided has left to do.
  private func finish() throws {
    guard let data = try DiskFileCalls.contents(of: journalPath) else { return }
    // The first step must not outlive a power cut without the decision. When this fails, the new files stay,
    // for whoever comes next.
    try DiskFileCalls.syncDirectory(path)
    do {
      try finish(try JSONDecoder().decode(Journal.self, from: data))
    } catch is DecodingError {
      throw StoreError.unusableFile(path: journalPath, message: "it cannot be decoded")
    }
  }

  /// Finishes a transaction that was decided a moment ago.
  private func finishDecided() throws {
    do {
      try finish()
    } catch is BoutiqueError {
      // It is done in any case, sooner or later. An error that does not last is none for the caller.
      try finish()
    }
  }

  private func finish(_ journal: Journal) throws {
    for (new, name) in journal.moves {
      try DiskFileCalls.move(newFile(new), to: file(name), mayBeMissing: true)
    }
    for name in journal.removals { try DiskFileCalls.remove(file(name)) }
    try DiskFileCalls.syncDirectory(path)
    try DiskFileCalls.remove(journalPath)
  }

  /// Makes the directory for new files, and removes what those left there who died before they had decided.
  private func prepareNewFiles() throws {
    guard mkdir(path + "/.new", 0o700) != 0 else { return }
    guard errno == EEXIST else { throw DiskFileCalls.failure("mkdir", path + "/.new") }
    for name in try DiskFileCalls.names(in: path + "/.new") {
      try DiskFileCalls.remove(newFile(name))
    }
  }

  // MARK: Reading

  private func read(_ name: String) throws -> (file: DiskItemFile, data: Data)? {
    guard let bytes = try DiskFileCalls.contents(of: file(name)) else { return nil }
    let found = try DiskItemFile.read(bytes, path: file(name))
    try check(found.file, name)
    return found
  }

  /// Reads all but the data.
  private func readHead(_ name: String) throws -> DiskItemFile? {
    let limit = 4096
    guard let bytes = try DiskFileCalls.contents(of: file(name), limit: limit) else { return nil }
    guard let found = try? DiskItemFile.read(bytes, path: file(name)) else {
      // The key may be longer than that.
      return try read(name)?.file
    }
    try check(found.file, name)
    return found.file
  }

  private func check(_ item: DiskItemFile, _ name: String) throws {
    guard DiskItemFile.name(of: item.key).hasBytes(of: name) else {
      throw StoreError.unusableFile(
        path: file(name), message: "it holds the key “\(item.key)”, whose file has another name")
    }
  }

  /// Returns what lies under some keys, in their order.
  func items(under keys: [CacheKey]) throws -> [(file: DiskItemFile, data: Data)] {
    try locked(LOCK_SH) {
      try keys.compactMap { try read(DiskItemFile.name(of: $0)) }
    }
  }

  /// Returns all but the data of what lies under some keys, in their order.
  func heads(under keys: [CacheKey]) throws -> [DiskItemFile] {
    try locked(LOCK_SH) {
      try keys.compactMap { try readHead(DiskItemFile.name(of: $0)) }
    }
  }

  /// Returns all but the data of everything, in order.
  func allHeads() throws -> [DiskItemFile] {
    try locked(LOCK_SH) {
      try DiskFileCalls.names(in: path).compactMap { try readHead($0) }
        .sorted { $0.sequence < $1.sequence }
    }
  }

  /// Returns everything, in order.
  func allItems() throws -> [(file: DiskItemFile, data: Data)] {
    try locked(LOCK_SH) {
      try DiskFileCalls.names(in: path).compactMap { try read($0) }
        .sorted { $0.file.sequence < $1.file.sequence }
    }
  }

  // MARK: Changes

  /// Returns what has changed since a position.
  func changes(since position: StoragePosition?) throws -> StorageChanges {
    try locked(LOCK_SH) {
      let now = try counters().transaction
      if indexed != now { try look(now) }
      var since = position?.history == history ? position?.number : nil
      if let number = since, number < goneSince || number > now { since = nil }
      let number = since ?? .min
      var changes = StorageChanges(
        position: StoragePosition(history: history, number: now), isEverything: since == nil,
        entries: [])
      for (name, known) in index where known.noticed > number {
        guard let (item, data) = try read(name) else { continue }
        changes.entries.append(
          StorageEntry(
            place: item.sequence, key: item.key, data: data,
            origin: known.isOwn ? .thisProcess : nil))
      }
      changes.entries.sort { $0.place < $1.place }
      if since != nil {
        for (noticed, place, isOwn) in gone where noticed > number {
          changes.gone.updateValue(isOwn ? .thisProcess : nil, forKey: place)
        }
        // A file that was removed and came back has another sequence; one that moved has the same.
        for entry in changes.entries { changes.gone[entry.place] = nil }
      }
      return changes
    }
  }

  /// Brings the index to a transaction by looking at all files; reads those that are new.
  private func look(_ now: Int64) throws {
    var seen: Set<String> = []
    for name in try DiskFileCalls.names(in: path) {
      guard let identity = identity(name) else { continue }
      seen.insert(name)
      if index[name]?.identity == identity { continue }
      guard let item = try readHead(name) else { continue }
      if let old = index[name], old.sequence != item.sequence {
        gone.append((now, old.sequence, false))
      }
      index[name] = Known(
        identity: identity, sequence: item.sequence, noticed: now, isOwn: false)
    }
    for (name, known) in index where !seen.contains(name) {
      gone.append((now, known.sequence, false))
      index[name] = nil
    }
    indexed = now
    trim(now)
  }

  /// Brings the index from the transaction before one of this engine's own to that one.
  private func note(
    _ journal: Journal, _ sequences: [String: Int64], _ before: Int64, _ now: Int64
  ) {
    // Others have written in between, or nobody has looked yet: looking will find it all.
    guard indexed == before else { return }
    for name in journal.removals {
      if let known = index.removeValue(forKey: name) { gone.append((now, known.sequence, true)) }
    }
    for name in journal.moves.values {
      // Left as it was, the index is of an earlier transaction, and looking finds the rest.
      guard let identity = identity(name), let sequence = sequences[name] else { return }
      if let old = index[name], old.sequence != sequence {
        gone.append((now, old.sequence, true))
      }
      index[name] = Known(identity: identity, sequence: sequence, noticed: now, isOwn: true)
    }
    indexed = now
    trim(now)
  }

  private func trim(_ now: Int64) {
    guard gone.count > 10_000 else { return }
    gone = []
    goneSince = now
  }

  private func identity(_ name: String) -> Identity? {
    var status = stat()
    guard lstat(file(name), &status) == 0 else { return nil }
    return Identity(
      inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec,
      nanoseconds: status.st_mtim.tv_nsec, size: Int64(status.st_size))
  }
}
