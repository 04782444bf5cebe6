import BoutiqueDB

/// Rows as text that is the same from Swift and from Python (`ForeignPrograms`), so that answers can be compared
/// across programs: storage class and exact value of each column.
enum RowText {
  static func cell(_ value: SQLValue) -> String {
    switch value {
    case .null: return "N"
    case .integer(let value): return "I\(value)"
    case .real(let value):
      let digits = String(value.bitPattern, radix: 16)
      return "R" + String(repeating: "0", count: 16 - digits.count) + digits
    case .text(let value): return "T\(value.utf8.count):\(value)"
    case .blob(let bytes):
      return "B"
        + bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
  }

  static func line(_ values: some Sequence<SQLValue>) -> String {
    values.map(cell).joined(separator: "|")
  }

  /// FNV-1a, 64 bits.
  static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }

  /// The hash of lines whose order counts.
  static func hash(lines: [String]) -> String { String(hash(lines.joined(separator: "\n"))) }

  /// The hash of rows whose order does not count.
  static func hash(rows: some Sequence<String>) -> String {
    String(rows.reduce(UInt64(0)) { $0 &+ hash($1) })
  }
}

/// What a query answered, with the counter of commits at that moment where it is asked for.
struct Answer: Equatable, Sendable {
  var counter: Int64?
  var lines: [String]

  /// Asks a query.
  ///
  /// Of two statements the second gets the first one's first value; of three, its parity chooses one of the
  /// others.
  static func of(
    _ sql: [String], isCounted: Bool, on connection: BoutiqueConnection
  ) throws -> Answer {
    let counter =
      isCounted
      ? try connection.queryOne("SELECT value FROM converge_counter WHERE id = 1")?
        .decode(0, as: Int64.self) : nil
    guard let first = sql.first else { return Answer(counter: counter, lines: []) }
    var rows = try connection.query(first)
    if sql.count > 1 {
      let value = rows.first?.values.first ?? .null
      if sql.count == 2 {
        rows = try connection.query(sql[1], value)
      } else if case .integer(let number) = value {
        rows = try connection.query(sql[1 + Int(number & 1)])
      } else {
        rows = try connection.query(sql[1])
      }
    }
    return Answer(counter: counter, lines: rows.map { RowText.line($0.values) })
  }
}
