public import Foundation

// Other ways to keep dates and UUIDs, chosen column by column: `@Column(as: Date.UnixTimeRepresentation.self)`.
// Comparisons with such a column bind their values in the column's own way.

/// A representation that is built from one stored value.
public protocol ValueRepresentation: QueryRepresentable {
  /// Returns the value made from a stored one.
  static func decode(_ value: SQLValue) throws(DecodingFailure) -> Output
}

extension ValueRepresentation {
  /// Returns the value made from the next column.
  public static func decode(from decoder: inout RowDecoder) throws(DecodingFailure) -> Output {
    let value = try decoder.nextValue(for: Output.self)
    do {
      return try decode(value)
    } catch {
      throw decoder.locate(error)
    }
  }
}

extension Date {
  /// Whole seconds since 1970 as INTEGER; the fraction is dropped.
  public enum UnixTimeRepresentation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = Date

    /// INTEGER.
    public static var sqlType: SQLType { .integer }
    /// Returns the second in which the date lies.
    public static func bind(_ output: Date) throws(BindingFailure) -> SQLValue {
      try integer(output.timeIntervalSince1970.rounded(.down), of: output)
    }
    /// Returns the date at the second.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> Date {
      Date(timeIntervalSince1970: Double(try Int64(sqlValue: value)))
    }
  }

  /// Milliseconds since 1970 as INTEGER, rounded to the nearest.
  public enum UnixMillisecondsRepresentation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = Date

    /// INTEGER.
    public static var sqlType: SQLType { .integer }
    /// Returns the nearest millisecond.
    public static func bind(_ output: Date) throws(BindingFailure) -> SQLValue {
      try integer((output.timeIntervalSince1970 * 1000).rounded(), of: output)
    }
    /// Returns the date at the millisecond.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> Date {
      Date(timeIntervalSince1970: Double(try Int64(sqlValue: value)) / 1000)
    }
  }

  /// The Julian day number as REAL, as SQLite's `julianday()` gives it; exact to about 50 µs.
  public enum JulianDayRepresentation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = Date

    /// REAL.
    public static var sqlType: SQLType { .real }
    /// Returns the day number.
    public static func bind(_ output: Date) throws(BindingFailure) -> SQLValue {
      try (output.timeIntervalSince1970 / 86400 + 2_440_587.5).sqlValue()
    }
    /// Returns the date of the day number.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> Date {
      Date(timeIntervalSince1970: (try Double(sqlValue: value) - 2_440_587.5) * 86400)
    }
  }

  /// Text as `2026-11-30T08:15:00.123456Z`, in UTC, exact to the microsecond, in the order of time.
  ///
  /// Reads the same with a space for the T, without fraction, and without Z, as SQLite's `datetime()`
  /// writes it.
  public enum ISO8601Representation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = Date

    /// TEXT.
    public static var sqlType: SQLType { .text }
    /// Returns the text, or fails for a year beyond four digits.
    public static func bind(_ output: Date) throws(BindingFailure) -> SQLValue {
      guard let text = ISO8601Text.text(of: output) else {
        throw BindingFailure(
          value: String(describing: output.timeIntervalSince1970), type: "Date",
          reason: "ISO 8601 text holds the years 0000 to 9999")
      }
      return .text(text)
    }
    /// Returns the date of the text.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> Date {
      guard case .text(let text) = value, let date = ISO8601Text.date(of: text) else {
        throw DecodingFailure(expected: Date.self, found: value)
      }
      return date
    }
  }

  private static func integer(
    _ number: Double, of date: Date
  ) throws(BindingFailure) -> SQLValue {
    guard let value = Int64(exactly: number) else {
      throw BindingFailure(
        value: String(date.timeIntervalSince1970), type: "Date",
        reason: "it is beyond SQLite's integers")
    }
    return .integer(value)
  }
}

extension UUID {
  /// The 16 bytes as BLOB.
  public enum BytesRepresentation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = UUID

    /// BLOB.
    public static var sqlType: SQLType { .blob }
    /// Returns the bytes.
    public static func bind(_ output: UUID) throws(BindingFailure) -> SQLValue {
      .blob(withUnsafeBytes(of: output.uuid) { [UInt8]($0) })
    }
    /// Returns the identifier of 16 bytes.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> UUID {
      guard case .blob(let bytes) = value, bytes.count == 16 else {
        throw DecodingFailure(expected: UUID.self, found: value)
      }
      var uuid = UUID().uuid
      withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
      return UUID(uuid: uuid)
    }
  }

  /// Upper-case text.
  public enum UppercasedRepresentation: ValueRepresentation {
    /// The value in Swift.
    public typealias Output = UUID

    /// TEXT.
    public static var sqlType: SQLType { .text }
    /// Returns the text.
    public static func bind(_ output: UUID) throws(BindingFailure) -> SQLValue {
      .text(output.uuidString)
    }
    /// Returns the identifier of text in either letter case.
    public static func decode(_ value: SQLValue) throws(DecodingFailure) -> UUID {
      try UUID(sqlValue: value)
    }
  }
}

extension UUID: KeyMaking {
  static func makeKey() -> SQLBinding {
    SQLBinding { () throws(BindingFailure) in try UUID().sqlValue() }
  }
}

extension UUID.BytesRepresentation: KeyMaking {
  static func makeKey() -> SQLBinding {
    SQLBinding { () throws(BindingFailure) in try bind(UUID()) }
  }
}

extension UUID.UppercasedRepresentation: KeyMaking {
  static func makeKey() -> SQLBinding {
    SQLBinding { () throws(BindingFailure) in try bind(UUID()) }
  }
}
