import BoutiqueDB
import CommandLineSupport

/// Finds the narrowest column types under which every value of a file is stored as it is written.
///
/// | all values are | type |
/// |---|---|
/// | whole numbers without leading zeros that fit into 64 bits | INTEGER |
/// | those and decimal numbers | REAL, or NUMERIC where a double would change a whole number |
/// | anything else | TEXT |
/// | JSON texts and numbers mixed | none, so that SQLite keeps each as it is |
struct TypeInference {
  private struct Column {
    var hasInteger = false
    var hasBigInteger = false
    var hasReal = false
    var hasText = false
    /// Whether a number came as a number (from JSON) rather than as text that looks like one.
    var hasTypedNumber = false
  }

  private var names: [String] = []
  private var found: [String: Column] = [:]
  // The columns of a delimited file, by place: all records have the same.
  private var placed: (names: [String], columns: [Column]) = ([], [])

  /// Begins with columns that are known before any row.
  init(columns: [String]) {
    for name in columns { note(name) { _ in } }
  }

  /// Takes a row into account.
  mutating func add(_ row: ImportRow) {
    for (name, value) in zip(row.columns, row.values) {
      note(name) { column in Self.add(value, to: &column) }
    }
  }

  /// Takes the fields of a record into account; all records of a file have the same columns.
  mutating func add(
    _ fields: DelimitedFields, isNull: (DelimitedFields, Int) -> Bool, _ columns: [String]
  ) {
    if placed.names.isEmpty {
      for name in columns { note(name) { _ in } }
      placed = (columns, columns.map { found[$0] ?? Column() })
    }
    for index in 0..<min(fields.count, placed.columns.count)
    where !placed.columns[index].hasText && !isNull(fields, index) {
      Self.add(fields[index], to: &placed.columns[index])
    }
  }

  /// The columns in order of appearance, with their types.
  var columns: [(name: String, type: String)] {
    names.map { ($0, Self.type(of: found($0))) }
  }

  private func found(_ name: String) -> Column {
    placed.names.firstIndex(of: name).map { placed.columns[$0] } ?? found[name] ?? Column()
  }

  /// Whether a value can go into its column without being changed; for rows that were not looked at.
  func accepts(_ value: SQLValue, for name: String) -> Bool {
    guard var column = found[name] else { return false }
    let before = Self.type(of: column)
    Self.add(value, to: &column)
    return before == "TEXT" || before.isEmpty || Self.type(of: column) == before
  }

  private mutating func note(_ name: String, _ change: (inout Column) -> Void) {
    if found[name] == nil { names.append(name) }
    change(&found[name, default: Column()])
  }

  private static func add(_ value: SQLValue, to column: inout Column) {
    switch value {
    case .null: break
    case .integer(let number):
      column.hasTypedNumber = true
      column.hasInteger = true
      column.hasBigInteger = column.hasBigInteger || !isExact(number)
    case .real:
      column.hasTypedNumber = true
      column.hasReal = true
    case .blob: column.hasText = true
    case .text(let text):
      // Once there is one text, what others look like makes no difference.
      if column.hasText { return }
      if let number = Int64(text), String(number) == text {
        column.hasInteger = true
        column.hasBigInteger = column.hasBigInteger || !isExact(number)
      } else if isDecimal(text) {
        column.hasReal = true
      } else {
        column.hasText = true
      }
    }
  }

  /// Does the same for the bytes of a text, most of which need not become one.
  private static func add(_ bytes: UnsafeRawBufferPointer, to column: inout Column) {
    let isNegative = bytes.first == UInt8(ascii: "-")
    let zero = UInt8(ascii: "0")
    var whole = 0
    var fraction = 0
    var hasPoint = false
    for byte in bytes.dropFirst(isNegative ? 1 : 0) {
      if byte >= zero, byte <= zero + 9 {
        if hasPoint { fraction += 1 } else { whole += 1 }
      } else if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else {
        whole = 0
        break
      }
    }
    let hasLeadingZero = whole > 0 && bytes[isNegative ? 1 : 0] == zero
    if whole > 0, whole <= 15, !hasPoint, !hasLeadingZero || whole == 1 && !isNegative {
      // Whole numbers of up to 15 digits are what they look like, for SQLite and in a double.
      column.hasInteger = true
    } else if whole > 0, fraction > 0, whole + fraction <= 17, !hasLeadingZero || whole == 1 {
      column.hasReal = true
    } else {
      add(.text(String(decoding: bytes, as: UTF8.self)), to: &column)
    }
  }

  private static func type(of column: Column) -> String {
    if column.hasText { return column.hasTypedNumber ? "" : "TEXT" }
    if column.hasReal { return column.hasBigInteger ? "NUMERIC" : "REAL" }
    return column.hasInteger ? "INTEGER" : "TEXT"
  }

  private static func isExact(_ number: Int64) -> Bool { Int64(exactly: Double(number)) == number }

  /// Whether a text is digits, a point, digits and perhaps an exponent, without leading zeros and
  /// with no more digits than a double holds.
  private static func isDecimal(_ text: String) -> Bool {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let hasLeadingZero = rest.first == UInt8(ascii: "0")
    let whole = takeDigits(&rest)
    guard whole > 0, whole == 1 || !hasLeadingZero, rest.popFirst() == UInt8(ascii: ".") else {
      return false
    }
    let fraction = takeDigits(&rest)
    guard fraction > 0, whole + fraction <= 17 else { return false }
    if rest.isEmpty { return true }
    guard rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") else { return false }
    return Double(text)?.isFinite ?? false
  }

  private static func takeDigits(_ rest: inout Substring.UTF8View) -> Int {
    let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    rest = rest[digits.endIndex...]
    return digits.count
  }
}
