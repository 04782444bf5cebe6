import Glibc

/// Reads the values of one line of a history's file, in order.
///
/// Anything unexpected makes ``failed`` true, and everything after it a default: a line that was cut by a
/// kill is left out as a whole. The memory must end with a byte 0, at which every call stops.
struct HistoryScanner {
  private var place: UnsafePointer<CChar>
  private let end: UnsafePointer<CChar>
  private(set) var failed = false

  init(_ begin: UnsafePointer<CChar>, end: UnsafePointer<CChar>) {
    place = begin
    self.end = end
  }

  private static let null = UInt8(ascii: "n")
  private static let quote = CInt(UInt8(ascii: "\""))
  private static let escape = CInt(UInt8(ascii: "\\"))

  private var next: UInt8 { place < end ? UInt8(bitPattern: place.pointee) : 0 }

  /// Takes a character that must come.
  mutating func take(_ character: UInt8) {
    if next == character { place += 1 } else { failed = true }
  }

  /// Takes a character if it comes.
  mutating func takes(_ character: UInt8) -> Bool {
    guard next == character else { return false }
    place += 1
    return true
  }

  mutating func comma() { take(UInt8(ascii: ",")) }

  mutating func integer() -> Int64 {
    var after: UnsafeMutablePointer<CChar>?
    let value = strtoll(place, &after, 10)
    guard let after, UnsafePointer(after) > place, UnsafePointer(after) <= end else {
      failed = true
      return 0
    }
    place = UnsafePointer(after)
    return Int64(value)
  }

  mutating func isNull() -> Bool {
    guard next == Self.null else { return false }
    place += min(4, end - place)
    return true
  }

  mutating func text() -> String {
    take(UInt8(ascii: "\""))
    guard !failed, let found = memchr(place, Self.quote, end - place) else {
      failed = true
      return ""
    }
    let length = UnsafeRawPointer(found) - UnsafeRawPointer(place)
    if memchr(place, Self.escape, length) != nil { return escapedText() }
    let text = String(
      decoding: UnsafeRawBufferPointer(start: place, count: length), as: UTF8.self)
    place += length + 1
    return text
  }

  private mutating func escapedText() -> String {
    var bytes: [UInt8] = []
    while place < end {
      let byte = next
      place += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: bytes, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        let escaped = next
        place += 1
        switch escaped {
        case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
        default: bytes.append(escaped)
        }
      } else {
        bytes.append(byte)
      }
    }
    failed = true
    return ""
  }

  private mutating func value() -> StepValue {
    switch next {
    case Self.null:
      _ = isNull()
      return .none
    case UInt8(ascii: "\""): return .text(text())
    case UInt8(ascii: "["):
      place += 1
      var values: [Int64] = []
      if takes(UInt8(ascii: "]")) { return .list(values) }
      repeat { values.append(integer()) } while !failed && takes(UInt8(ascii: ","))
      take(UInt8(ascii: "]"))
      return .list(values)
    default: return .integer(integer())
    }
  }

  mutating func steps() -> [Step] {
    take(UInt8(ascii: "["))
    var steps: [Step] = []
    if takes(UInt8(ascii: "]")) { return steps }
    repeat {
      take(UInt8(ascii: "["))
      guard let kind = Step.Kind(rawValue: text()) else {
        failed = true
        return steps
      }
      comma()
      let key = text()
      comma()
      steps.append(Step(kind, key, value()))
      take(UInt8(ascii: "]"))
    } while !failed && takes(UInt8(ascii: ","))
    take(UInt8(ascii: "]"))
    return steps
  }

  /// Whether the line ended where it should.
  mutating func isWhole() -> Bool {
    take(UInt8(ascii: "]"))
    return !failed && place == end
  }
}
