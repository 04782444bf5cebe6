internal import CSQLite

/// One value on its way into a record.
enum RecordCell {
  case null
  case integer(Int64)
  case real(Double)
  /// A text or blob of SQLite's, with its length; fetched only when it is known to fit.
  case borrowed(OpaquePointer, count: Int, isText: Bool)
  case bytes([UInt8], isText: Bool)

  init(_ value: SQLiteValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    // As SQLite stores it (sqlite3_bind_double).
    case .real(let number): self = number.isNaN ? .null : .real(number)
    case .text(let text): self = .bytes(Array(text.utf8), isText: true)
    case .blob(let bytes): self = .bytes(bytes, isText: false)
    }
  }

  init(borrowing value: OpaquePointer) {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      // The text is asked for before its length: a conversion from UTF-16 changes the length.
      _ = sqlite3_value_text(value)
      self = .borrowed(value, count: Int(sqlite3_value_bytes(value)), isText: true)
    case SQLITE_BLOB:
      // Only the length: the zeros of a zero-blob are made when its bytes are asked for.
      self = .borrowed(value, count: Int(sqlite3_value_bytes(value)), isText: false)
    default: self = .null
    }
  }

  /// The serial type; its value takes ``contentSize`` bytes.
  var serialType: UInt64 {
    switch self {
    case .null: return 0
    case .integer(0): return 8
    case .integer(1): return 9
    case .integer(let number):
      switch number {
      case -0x80...0x7f: return 1
      case -0x8000...0x7fff: return 2
      case -0x80_0000...0x7f_ffff: return 3
      case -0x8000_0000...0x7fff_ffff: return 4
      case -0x8000_0000_0000...0x7fff_ffff_ffff: return 5
      default: return 6
      }
    case .real: return 7
    case .borrowed(_, let count, let isText): return UInt64(count) * 2 + (isText ? 13 : 12)
    case .bytes(let bytes, let isText): return UInt64(bytes.count) * 2 + (isText ? 13 : 12)
    }
  }

  /// How many bytes the value takes behind the header.
  var contentSize: Int {
    switch self {
    case .borrowed(_, let count, _): return count
    case .bytes(let bytes, _): return bytes.count
    default: return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][Int(serialType)]
    }
  }
}

/// Records one behind the other in one piece of memory.
package struct RecordBuffer {
  /// All records that were appended.
  package private(set) var bytes: [UInt8] = []
  var cells: [RecordCell] = []

  /// Makes an empty buffer.
  package init() {}

  /// Forgets all records; much memory is given back.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
  }

  /// Forgets what was appended after the first `count` bytes.
  package mutating func truncate(to count: Int) {
    bytes.removeSubrange(min(count, bytes.count)...)
  }

  /// Keeps the given records only, moved together; the ranges are changed accordingly.
  ///
  /// - Parameter ranges: in the order in which they were appended.
  package mutating func keep(_ ranges: inout [Range<Int>]) {
    var kept: [UInt8] = []
    kept.reserveCapacity(ranges.reduce(0) { $0 + $1.count })
    for index in ranges.indices {
      let start = kept.count
      kept.append(contentsOf: bytes[ranges[index]])
      ranges[index] = start..<kept.count
    }
    bytes = kept
  }

  /// Appends a record of these values, unless it would take the buffer past `limit` bytes.
  ///
  /// - Returns: where it is; nil when it does not fit or memory ran out.
  package mutating func append(_ values: [SQLiteValue], limit: Int) -> Range<Int>? {
    append(values.map(RecordCell.init), limit: limit)
  }

  /// Appends a record of these cells, unless it would take the buffer past `limit` bytes.
  ///
  /// - Returns: where it is; nil when it does not fit or memory ran out.
  mutating func append(_ values: [RecordCell], limit: Int) -> Range<Int>? {
    cells = values
    return appendCells(limit: limit)
  }

  /// Appends a record of `cells`.
  mutating func appendCells(limit: Int) -> Range<Int>? {
    defer { cells.removeAll(keepingCapacity: true) }
    var typesSize = 0
    var contentSize = 0
    for cell in cells {
      typesSize += Self.varintSize(cell.serialType)
      contentSize += cell.contentSize
    }
    // The header's size counts itself, which can take it past the next power of 128.
    var headerSize = typesSize + 1
    while Self.varintSize(UInt64(headerSize)) + typesSize != headerSize { headerSize += 1 }
    let start = bytes.count
    guard headerSize + contentSize <= limit - min(limit, start) else { return nil }
    append(varint: UInt64(headerSize))
    for cell in cells { append(varint: cell.serialType) }
    for cell in cells {
      guard append(content: cell) else {
        truncate(to: start)
        return nil
      }
    }
    return start..<bytes.count
  }

  private static func varintSize(_ value: UInt64) -> Int {
    let bits = max(1, UInt64.bitWidth - value.leadingZeroBitCount)
    return min(9, (bits + 6) / 7)
  }

  private mutating func append(varint value: UInt64) {
    let size = Self.varintSize(value)
    if size == 1 {
      bytes.append(UInt8(value))
    } else if size == 9 {
      for index in 0..<8 {
        bytes.append(UInt8(truncatingIfNeeded: value >> (57 - 7 * index)) | 0x80)
      }
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else {
      for index in (0..<size).reversed() {
        let seven = UInt8(truncatingIfNeeded: value >> (7 * index)) & 0x7f
        bytes.append(index == 0 ? seven : seven | 0x80)
      }
    }
  }

  private mutating func append(content cell: RecordCell) -> Bool {
    switch cell {
    case .null: break
    case .integer(let number): append(UInt64(bitPattern: number), size: cell.contentSize)
    case .real(let number): append(number.bitPattern, size: 8)
    case .bytes(let content, _): bytes.append(contentsOf: content)
    case .borrowed(let value, let count, let isText):
      guard count > 0 else { break }
      let pointer = isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
      guard let pointer else { return false }
      bytes.append(contentsOf: UnsafeRawBufferPointer(start: pointer, count: count))
    }
    return true
  }

  private mutating func append(_ value: UInt64, size: Int) {
    for index in (0..<size).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }
}
