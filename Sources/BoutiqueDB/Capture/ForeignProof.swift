import SQLiteConnection

/// What has to be as it was when the triggers were last known to be complete.
///
/// The triggers tell of rows. What they cannot tell of shows here: a change of the schema by any way
/// (`PRAGMA writable_schema` and VACUUM included), and the header's numbers that belong to the program.
/// A foreign commit after which the proof is another one is described as everything.
struct ForeignProof: Hashable {
  var text: String

  /// The state of the database as the transaction sees it.
  static func current(on sqlite: Connection) throws(SQLiteError) -> ForeignProof {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ bytes: UnsafeBufferPointer<UInt8>) {
      // Fowler, Noll, Vo: FNV-1a, 64 bits.
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
      hash = (hash ^ 0xff) &* 0x0100_0000_01b3
    }
    let select = try sqlite.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema")
    defer { select.reset() }
    while try select.step() {
      for column in 0..<5 { select.withText(column) { mix($0) } }
    }
    let version = try sqlite.queryInt64("PRAGMA schema_version") ?? 0
    let user = try sqlite.queryInt64("PRAGMA user_version") ?? 0
    let application = try sqlite.queryInt64("PRAGMA application_id") ?? 0
    return ForeignProof(
      text: "\(version) \(user) \(application) \(String(hash, radix: 16))")
  }
}
