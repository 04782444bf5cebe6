import BoutiqueDB
import Glibc

/// What a row holds: everything follows from its key and two versions, one for each half of its columns.
///
/// So any mixture of two versions, in a column or within one blob, is seen at once. Blobs go from nothing to
/// some megabytes; each word of one depends on its place, so that a page of another version stands out.
struct WideContent: Sendable {
  /// Half of a row: `a` with its columns and body, or `b`.
  enum Half: String, CaseIterable, Sendable {
    case a
    case b
  }

  /// Columns of each half besides version and body.
  static let columns = 12

  static let schema = """
    CREATE TABLE wide (id INTEGER PRIMARY KEY,
      \(Half.allCases.flatMap { half in
        ["\(half)_version INTEGER NOT NULL", "\(half)_body BLOB NOT NULL"]
          + (0..<columns).map { "\(half)\($0)" }
      }.joined(separator: ", ")),
      checksum INTEGER NOT NULL);
    CREATE INDEX wide_a1 ON wide (a1, b2);
    """

  static func seed(_ key: Int64, _ version: Int64, _ half: Half) -> UInt64 {
    var hash: UInt64 = half == .a ? 0x51ab_ac1d : 0x7e57_ed17
    for value in [key, version] {
      hash = (hash ^ UInt64(bitPattern: value)) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 31
    }
    return hash
  }

  /// The value of a column.
  static func value(_ seed: UInt64, _ column: Int) -> SQLValue {
    let word = (seed &+ UInt64(column)) &* 0xbf58_476d_1ce4_e5b9
    switch column % 5 {
    case 0: return .integer(Int64(bitPattern: word))
    case 1: return .text(String(word, radix: 36))
    case 2: return .real(Double(word >> 12))
    case 3: return .null
    // Long enough for an overflow page together with the others.
    default: return .text(String(repeating: "\(word % 10)", count: Int(word % 900)))
    }
  }

  /// How long the body is, in words of eight bytes.
  private static func words(_ seed: UInt64) -> Int {
    switch seed % 100 {
    case 0..<50: Int(seed % 25)
    case 50..<75: Int(seed % 1000)
    case 75..<92: Int(seed % 8000)
    case 92..<99: Int(seed % 50_000)
    default: 120_000 + Int(seed % 260_000)
    }
  }

  static func body(_ seed: UInt64) -> [UInt8] {
    let count = words(seed)
    return [UInt8](unsafeUninitializedCapacity: count * 8) { buffer, initialized in
      var word = seed
      var offset = 0
      while offset < count * 8 {
        UnsafeMutableRawPointer(buffer.baseAddress)?.storeBytes(
          of: word, toByteOffset: offset, as: UInt64.self)
        word &+= 0x9e37_79b9_7f4a_7c15
        offset += 8
      }
      initialized = count * 8
    }
  }

  /// A sum over both halves, kept in a column of its own, which every update writes.
  static func checksum(_ key: Int64, _ a: Int64, _ b: Int64) -> Int64 {
    Int64(bitPattern: seed(key, a, .a) ^ (seed(key, b, .b) &* 3))
  }

  // MARK: Writing

  /// The columns of a half with their values.
  static func assignments(
    _ key: Int64, _ version: Int64, _ half: Half
  ) -> [(column: String, value: SQLValue)] {
    let seed = seed(key, version, half)
    return [("\(half)_version", .integer(version)), ("\(half)_body", .blob(body(seed)))]
      + (0..<columns).map { ("\(half)\($0)", value(seed, $0)) }
  }

  static func insert(_ key: Int64, _ version: Int64, _ connection: BoutiqueConnection) throws {
    let all =
      [(column: "id", value: SQLValue.integer(key))] + assignments(key, version, .a)
      + assignments(key, version, .b)
      + [("checksum", .integer(checksum(key, version, version)))]
    let marks = all.map { _ in "?" }.joined(separator: ", ")
    try connection.execute(
      "INSERT INTO wide (\(all.map(\.column).joined(separator: ", "))) VALUES (\(marks))",
      arguments: all.map(\.value))
  }

  /// Gives one half a version and leaves the other as it is.
  static func update(
    _ key: Int64, _ version: Int64, _ half: Half, _ connection: BoutiqueConnection
  ) throws {
    let other = half == .a ? Half.b : .a
    let kept: Int64 =
      try connection.queryOne("SELECT \(other)_version FROM wide WHERE id = ?", key)?.decode(0)
      ?? 0
    let (a, b) = half == .a ? (version, kept) : (kept, version)
    let all =
      assignments(key, version, half) + [("checksum", .integer(checksum(key, a, b)))]
    try connection.execute(
      "UPDATE wide SET \(all.map { "\($0.column) = ?" }.joined(separator: ", ")) WHERE id = ?",
      arguments: all.map(\.value) + [.integer(key)])
  }

  // MARK: Reading

  /// A row's versions, once everything in it was seen to be of them.
  struct Seen: Sendable, Equatable {
    var key: Int64
    var a: Int64
    var b: Int64
  }

  /// Compares all of a row with what its versions say.
  ///
  /// - Throws: ``TornRow`` where anything differs.
  static func verify(_ row: Row) throws -> Seen {
    let seen = Seen(
      key: try row.decode("id"), a: try row.decode("a_version"), b: try row.decode("b_version"))
    for (half, version) in [(Half.a, seen.a), (.b, seen.b)] {
      for (column, value) in assignments(seen.key, version, half) {
        guard let found = row[column] else { continue }
        if !isSame(found, value) {
          throw TornRow(
            text: "\(column) of row \(seen.key), versions \(seen.a) and \(seen.b), is "
              + "\(found), not \(value)" + place(found, value))
        }
      }
    }
    if let found = row["checksum"], found != .integer(checksum(seen.key, seen.a, seen.b)) {
      throw TornRow(
        text: "the checksum of row \(seen.key), versions \(seen.a) and \(seen.b), is \(found)")
    }
    return seen
  }

  private static func isSame(_ a: SQLValue, _ b: SQLValue) -> Bool {
    guard case .blob(let a) = a, case .blob(let b) = b else { return a == b }
    guard a.count == b.count else { return false }
    return a.withUnsafeBytes { a in
      b.withUnsafeBytes { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return memcmp(first, second, a.count) == 0
      }
    }
  }

  /// Where two blobs differ first.
  private static func place(_ a: SQLValue, _ b: SQLValue) -> String {
    guard case .blob(let a) = a, case .blob(let b) = b,
      let first = zip(a, b).enumerated().first(where: { $0.element.0 != $0.element.1 })
    else { return "" }
    return ", from byte \(first.offset) on"
  }
}

/// A row that is of no version.
struct TornRow: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
