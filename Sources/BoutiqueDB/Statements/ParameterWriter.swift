import SQLiteConnection
import StructuredQueries

/// Puts the values of a statement's parameters into its memory, one after the other, and binds them all at once.
struct ParameterWriter {
  private let statement: PreparedStatement
  private var memory: ParameterMemory
  private var count = 0
  private var used = 0

  /// - Precondition: the statement has been reset since it was bound last.
  init(_ statement: PreparedStatement, values count: Int) {
    self.statement = statement
    memory = statement.parameterMemory(values: count)
  }

  mutating func append(_ value: SQLValue) {
    switch value {
    case .null: append(5, 0, 0)
    case .integer(let number): append(1, UInt64(bitPattern: number), 0)
    case .real(let number): append(2, number.bitPattern, 0)
    case .text(var text):
      text.withUTF8 { append(3, UnsafeRawBufferPointer($0)) }
    case .blob(let bytes):
      bytes.withUnsafeBytes { append(4, $0) }
    }
  }

  /// Appends UTF-8 as a text.
  mutating func append(utf8 bytes: UnsafeRawBufferPointer) { append(3, bytes) }

  /// Binds what was appended to the first parameters.
  func bind() throws(SQLiteError) { try statement.bindParameters(count) }

  private mutating func append(_ kind: UInt64, _ bytes: UnsafeRawBufferPointer) {
    append(kind, UInt64(used), UInt64(bytes.count))
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
    if used + bytes.count > memory.capacity {
      memory = statement.parameterMemory(bytes: used + bytes.count, keeping: used)
    }
    guard let place = memory.bytes else { return }
    UnsafeMutableRawPointer(place + used).copyMemory(from: source, byteCount: bytes.count)
    used += bytes.count
  }

  private mutating func append(_ kind: UInt64, _ bits: UInt64, _ length: UInt64) {
    guard let words = memory.words else { return }
    let place = words + 3 * count
    place[0] = kind
    place[1] = bits
    place[2] = length
    count += 1
  }
}
