public import BoutiqueDB

/// A value of the row that is being read, where SQLite has it; valid during the call that is given it.
///
/// Types of yours have no use for it: ``BlackbirdColumnWrappable/_restored(_:)-(SQLValue)`` gets the same as a value.
public struct BlackbirdCell {
  // SQLite's number of the storage class, the bits or the address of the bytes, their number.
  @usableFromInline let kind: UInt64
  @usableFromInline let bits: UInt64
  @usableFromInline let count: UInt64

  /// - Parameter cells: a row as the engine has it in memory.
  @inlinable
  init(_ cells: UnsafePointer<UInt64>, _ column: Int) {
    let cell = cells + (1 + 3 * column)
    kind = cell[0]
    bits = cell[1]
    count = cell[2]
  }

  /// The number of an INTEGER.
  @inlinable var integer: Int64? { kind == 1 ? Int64(bitPattern: bits) : nil }
  /// The number of a REAL.
  @inlinable var real: Double? { kind == 2 ? Double(bitPattern: bits) : nil }
  /// The text of a TEXT; what is no UTF-8 is repaired.
  @inlinable var text: String? {
    kind == 3 ? String(decoding: bytes.assumingUInt8, as: UTF8.self) : nil
  }
  /// The bytes of a BLOB.
  @inlinable var blob: UnsafeRawBufferPointer? { kind == 4 ? bytes : nil }
  /// Whether it is NULL.
  @inlinable var isNull: Bool { kind == 5 }

  @inlinable var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(bits)), count: Int(count))
  }

  /// The value, copied.
  public var sqlValue: SQLValue {
    switch kind {
    case 1: .integer(Int64(bitPattern: bits))
    case 2: .real(Double(bitPattern: bits))
    case 3: .text(text ?? "")
    case 4: .blob([UInt8](bytes))
    default: .null
    }
  }
}

extension UnsafeRawBufferPointer {
  @inlinable var assumingUInt8: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: baseAddress?.assumingMemoryBound(to: UInt8.self), count: count)
  }
}
