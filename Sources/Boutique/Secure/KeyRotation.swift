import BoutiqueDB
import FaultPoints

// Giving all secure values of a database a new key while other processes read and write them.
//
// Invariants
//  1. At every moment the key file has the keys of all rows that are committed.
//  2. The file changes only inside a write transaction of the database, and whoever seals looks at the
//     file inside its own: nothing is sealed with a key that is about to go.
//  3. A row that cannot be opened ends the rotation before anything is changed.
//  4. A key goes only when all rows are sealed with another *on the disk*. A commit is in the log, which is
//     not synced, and the key file is: so the log is synced first.
//
//     file      rows       death here leaves
//     old       old        nothing begun
//     new old   old        everything readable; what is written is sealed with the new key; the next
//                          rotation first finishes this one
//     new old   new        the same
//     new old   new, synced the same
//     new       new        done
//
// Two that rotate at once take turns, since each step is a transaction: whoever comes second finds a
// rotation under way, finishes it, and makes its own.

extension SettingsStorage {
  /// Seals all secure values of this storage with a new key.
  ///
  /// The key file then holds a new random key. Where the program is given its keys, the values are sealed
  /// with the first of them; the others are not needed any more afterwards.
  ///
  /// Other processes go on reading and writing meanwhile. When it fails, or the process ends, at whatever
  /// point, all values stay readable; the next call finishes what was begun.
  ///
  /// - Returns: how many values were sealed anew.
  /// - Throws: ``SecureValueError`` for the first value that cannot be opened, or the key; an error of the
  ///   database.
  @discardableResult
  public func rotateKey() async throws -> Int {
    let engine = engine
    let vault = await engine.vault(for: self)
    let db = try await engine.database.opened()
    let path = engine.location
    guard let file = vault.file else {
      let count = try await db.write { try KeyRotation.sealAnew(vault, path: path, on: $0) }
      // Who is told that it is done takes the old key away.
      try await KeyRotation.sync(db)
      return count
    }
    while true {
      let (count, isNew) = try await db.write { connection in
        try SettingsTables.make(on: connection)
        let current = try KeyRotation.current(vault, on: connection)
        let isNew = current.count == 1
        if isNew {
          // Before the file is touched: can all of it be read?
          try KeyRotation.openAll(vault, path: path, on: connection)
          let old = Sabotage.hastyRotation.isOn ? [] : [current[0]]
          try file.replace(with: [try SecretKey(SecretKey.random())] + old)
          FaultPoint.reach(.inKeyRotation)
        }
        return (try KeyRotation.sealAnew(vault, path: path, on: connection), isNew)
      }
      repeat {
        try await KeyRotation.sync(db)
      } while try await !db.write({ try KeyRotation.finish(vault, file, path: path, on: $0) })
      if isNew { return count }
    }
  }
}

enum KeyRotation {
  /// Returns the keys of the file, made where there is none.
  fileprivate static func current(
    _ vault: KeyVault, on connection: BoutiqueConnection
  ) throws -> [SecretKey] {
    _ = try vault.sealingKey {
      try connection.queryOne("SELECT 1 FROM stored_secret LIMIT 1") != nil
    }
    return try vault.ring()
  }

  /// Waits until all that is committed will outlive a power cut.
  ///
  /// Whatever is sealed after it is sealed with the key that stays.
  fileprivate static func sync(_ db: BoutiqueDB) async throws {
    if db.path == ":memory:" { return }
    // A commit under `.full` syncs the log, with all that is in it; nobody who reads is in its way.
    var configuration = BoutiqueConfiguration()
    configuration.synchronous = .full
    let synced = try await BoutiqueDB.open(path: db.path, configuration: configuration)
    do {
      try await synced.write { connection in
        try connection.execute("UPDATE stored_secret SET sealed = sealed")
      }
    } catch {
      await synced.close()
      throw error
    }
    await synced.close()
    // As far as nobody reads, out of the log, too.
    _ = try? await db.checkpoint(.passive)
  }

  private static func sealed(
    on connection: BoutiqueConnection
  ) throws -> [(row: SettingRow, stored: SQLValue)] {
    try SettingsTables.readAll(on: connection).compactMap { row, stored in
      if case .secret = row { (row, stored) } else { nil }
    }
  }

  fileprivate static func openAll(
    _ vault: KeyVault, path: String, on connection: BoutiqueConnection
  ) throws {
    let codec = SealedCodec(vault: vault)
    for (row, stored) in try sealed(on: connection) {
      _ = try codec.open(stored, of: row, path: path)
    }
  }

  /// Seals what is not sealed with the key that seals now.
  fileprivate static func sealAnew(
    _ vault: KeyVault, path: String, on connection: BoutiqueConnection
  ) throws -> Int {
    try SettingsTables.make(on: connection)
    let codec = SealedCodec(vault: vault)
    let current = try vault.ring().first?.id
    var count = 0
    for (row, stored) in try sealed(on: connection) {
      if case .blob(let bytes) = stored,
        try SealedCodec.envelope(of: row, path).keyID(of: bytes) == current
      {
        continue
      }
      let clear = try codec.open(stored, of: row, path: path)
      let anew = try codec.seal(clear, for: row, path: path, on: connection)
      try SettingsTables.write(anew, to: row, on: connection)
      count += 1
    }
    return count
  }

  /// Takes the old key out of the file, where no row needs it.
  ///
  /// - Returns: false where rows had to be sealed anew first: they need the old key until that is committed.
  fileprivate static func finish(
    _ vault: KeyVault, _ file: KeyFile, path: String, on connection: BoutiqueConnection
  ) throws -> Bool {
    let ring = try vault.ring()
    guard ring.count > 1 else { return true }
    guard try sealAnew(vault, path: path, on: connection) == 0 else { return false }
    FaultPoint.reach(.beforeKeyRotationEnds)
    try file.replace(with: [ring[0]])
    return true
  }
}
