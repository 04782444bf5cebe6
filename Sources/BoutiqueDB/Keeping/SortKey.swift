import SQLiteConnection

/// A row's place in an order as bytes: comparing them (memcmp) gives what SQLite's ORDER BY gives.
///
/// ```
/// a term                   bytes
/// NULL                     00, or f0 where NULL comes last
/// a number                 10, a Double that sorts as its bits (8), how far an integer lies above it (2)
/// a text                   20, the collation's form of it with 00 written as 00 ff, 00 00
/// a blob                   30, the bytes written like that, 00 00
/// a term that descends     the same with each bit turned over
/// the row id               8 bytes, turned over where the order is the other way round
/// ```
///
/// Source of the order: SQLite, "Datatypes In SQLite", section 4.1, and `sqlite3MemCompare`; of the
/// collations: `nocaseCollatingFunc`, `rtrimCollFunc` in `main.c`. Text is compared in UTF-8, so this is for
/// databases of that encoding only.
struct SortKey {
  /// The collations whose order is known here; a program's own is not.
  enum Collation: String, Sendable {
    case binary = "BINARY"
    case nocase = "NOCASE"
    case rtrim = "RTRIM"

    init?(name: String) { self.init(rawValue: name.uppercased()) }
  }

  /// One term of an order.
  struct Term: Hashable, Sendable {
    var column: String
    var collation: Collation
    var isDescending: Bool
    var nullsFirst: Bool
  }

  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds a value of the current row.
  ///
  /// - Returns: false for a text whose order is not known.
  mutating func append(
    _ statement: PreparedStatement, _ column: Int, as term: Term
  ) -> Bool {
    let start = bytes.count
    var isKnown = true
    switch statement.columnType(column) {
    case .null: bytes.append(term.nullsFirst != term.isDescending ? 0x00 : 0xf0)
    case .integer: append(integer: statement.int64(column))
    case .real: append(real: statement.double(column))
    case .text:
      bytes.append(0x20)
      isKnown = statement.withText(column) { append(text: $0, term.collation) }
    case .blob:
      bytes.append(0x30)
      statement.withBlob(column) { append(escaping: $0) }
    }
    if term.isDescending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
    return isKnown
  }

  mutating func append(rowID: Int64, isDescending: Bool) {
    let sortable = UInt64(bitPattern: rowID) ^ (1 << 63)
    append(isDescending ? ~sortable : sortable)
  }

  private mutating func append(integer: Int64) {
    // Rounding keeps the order, so two numbers are out of it only where both round to the same, and there
    // the distance from it decides.
    let rounded = Double(integer)
    let base = rounded >= 0x1p63 ? Int64.min : Int64(rounded)
    append(real: rounded, distance: Int16(truncatingIfNeeded: integer &- base))
  }

  private mutating func append(real: Double, distance: Int16 = 0) {
    // Minus zero equals zero.
    let bits = (real == 0 ? 0 : real).bitPattern
    bytes.append(0x10)
    append(bits >> 63 == 0 ? bits | (1 << 63) : ~bits)
    let sortable = UInt16(bitPattern: distance) ^ 0x8000
    bytes.append(UInt8(sortable >> 8))
    bytes.append(UInt8(sortable & 0xff))
  }

  private mutating func append(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(
    text: UnsafeBufferPointer<UInt8>, _ collation: Collation
  ) -> Bool {
    switch collation {
    case .binary: append(escaping: text)
    case .nocase:
      // It compares as far as the first NUL, and then by length.
      if text.contains(0) { return false }
      append(escaping: text.lazy.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 })
    case .rtrim:
      let end = text.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
      append(escaping: text[..<end])
    }
    return true
  }

  private mutating func append(escaping content: some Collection<UInt8>) {
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xff) }
    }
    bytes.append(0)
    bytes.append(0)
  }
}
