import StructuredQueries

/// Rows of a result, packed one behind the other; their texts become strings when somebody asks.
///
/// A row is two words for each column, its storage class with the length of its bytes and its bits or where its
/// bytes are, and then the bytes. Small, because a row that is kept keeps its block.
///
/// `@unchecked Sendable`: what a row consists of is written before the row is made and never again.
final class RowBlock: @unchecked Sendable {
  // As SQLite numbers them.
  private enum Kind {
    static let integer: UInt64 = 1
    static let real: UInt64 = 2
    static let text: UInt64 = 3
    static let blob: UInt64 = 4
    static let null: UInt64 = 5
  }

  private let words: UnsafeMutablePointer<UInt64>
  let capacity: Int

  init(capacity: Int) {
    self.capacity = max(1, capacity)
    words = .allocate(capacity: self.capacity)
    words.initialize(repeating: 0, count: self.capacity)
  }

  deinit { words.deallocate() }

  /// Returns a value of the row that begins at a word.
  func value(_ column: Int, ofRowAt start: Int) -> SQLValue {
    let cell = words + (start + 2 * column)
    switch cell[0] & 7 {
    case Kind.integer: return .integer(Int64(bitPattern: cell[1]))
    case Kind.real: return .real(Double(bitPattern: cell[1]))
    case Kind.text: return .text(String(decoding: bytes(of: cell), as: UTF8.self))
    case Kind.blob: return .blob([UInt8](bytes(of: cell)))
    default: return .null
    }
  }

  private func bytes(of cell: UnsafeMutablePointer<UInt64>) -> UnsafeBufferPointer<UInt8> {
    let start = (UnsafeRawPointer(words) + Int(cell[1])).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: start, count: Int(cell[0] >> 3))
  }

  /// How many words a row takes that lies in memory as `PreparedStatement.readRow` has it.
  static func size(of row: UnsafePointer<UInt64>, columns: Int) -> Int {
    var size = 2 * columns
    for column in 0..<min(columns, Int(row[0])) {
      let cell = row + (1 + 3 * column)
      if cell[0] == Kind.text || cell[0] == Kind.blob { size += (Int(cell[2]) + 7) / 8 }
    }
    return size
  }

  /// Copies such a row; there must be room.
  func write(_ row: UnsafePointer<UInt64>, columns: Int, at start: Int) {
    var end = start + 2 * columns
    for column in 0..<columns {
      let target = words + (start + 2 * column)
      guard column < Int(row[0]) else {
        target[0] = Kind.null
        continue
      }
      let cell = row + (1 + 3 * column)
      target[0] = cell[0]
      target[1] = cell[1]
      guard cell[0] == Kind.text || cell[0] == Kind.blob else { continue }
      write(
        UnsafeRawBufferPointer(
          start: UnsafeRawPointer(bitPattern: UInt(cell[1])), count: Int(cell[2])),
        cell[0], at: target, &end)
    }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, _ kind: UInt64, at target: UnsafeMutablePointer<UInt64>,
    _ end: inout Int
  ) {
    target[0] = kind | UInt64(bytes.count) << 3
    target[1] = UInt64(end * 8)
    if let source = bytes.baseAddress, bytes.count > 0 {
      UnsafeMutableRawPointer(words + end).copyMemory(from: source, byteCount: bytes.count)
    }
    end += (bytes.count + 7) / 8
  }

  /// Makes a block of one row.
  convenience init(_ values: [SQLValue]) {
    var size = 2 * values.count
    for value in values {
      switch value {
      case .text(let text): size += (text.utf8.count + 7) / 8
      case .blob(let bytes): size += (bytes.count + 7) / 8
      default: break
      }
    }
    self.init(capacity: size)
    var end = 2 * values.count
    for (column, value) in values.enumerated() {
      let target = words + 2 * column
      switch value {
      case .null: target[0] = Kind.null
      case .integer(let number):
        target[0] = Kind.integer
        target[1] = UInt64(bitPattern: number)
      case .real(let number):
        target[0] = Kind.real
        target[1] = number.bitPattern
      case .text(var text):
        text.withUTF8 { write(UnsafeRawBufferPointer($0), Kind.text, at: target, &end) }
      case .blob(let bytes):
        bytes.withUnsafeBytes { write($0, Kind.blob, at: target, &end) }
      }
    }
  }
}

/// Packs the rows of one result.
struct RowPacker {
  /// A block is no larger than that, unless one row is.
  private static let largest = 512

  let names: ColumnNames
  private var block: RowBlock?
  private var end = 0
  private var nextCapacity = 0

  init(_ names: ColumnNames) { self.names = names }

  /// Returns a row that lies in memory as `PreparedStatement.readRow` has it.
  mutating func row(_ words: UnsafePointer<UInt64>) -> Row {
    let columns = names.list.count
    let size = RowBlock.size(of: words, columns: columns)
    let target = room(for: size)
    target.write(words, columns: columns, at: end)
    defer { end += size }
    return Row(names: names, block: target, start: end)
  }

  private mutating func room(for size: Int) -> RowBlock {
    // Whoever reads row by row and keeps none needs one block for all.
    if block != nil, isKnownUniquelyReferenced(&block) { end = 0 }
    if let block, size <= block.capacity - end { return block }
    // The first is as large as its row: there may be no other.
    let made = RowBlock(capacity: max(size, nextCapacity))
    nextCapacity = min(max(2 * nextCapacity, 4 * size), Self.largest)
    block = made
    end = 0
    return made
  }
}
