import Foundation
import StructuredQueries

// Functions of newer SQLite versions that the one of the system may lack, and `uuid()`, which none has.
// They are for statements. A trigger, index or default that calls one of them fails in every program that
// does not register it, the `sqlite3` shell included.

extension BoutiqueFunction {
  /// The functions that every connection offers.
  static let builtIn: [BoutiqueFunction] = [uuid, unhex, unhexIgnoring, concat, octetLength]

  private static let uuid = BoutiqueFunction(
    "uuid", argumentCount: 0, isDeterministic: false
  ) { _ in try UUID().sqlValue() }

  /// As SQLite's from 3.41: NULL unless the text is an even number of hexadecimal digits.
  private static let unhex = BoutiqueFunction("unhex", argumentCount: 1) { arguments in
    try bytes(of: arguments[0], ignoring: "")
  }

  /// As SQLite's from 3.41: the characters of the second argument may stand between pairs of digits.
  private static let unhexIgnoring = BoutiqueFunction("unhex", argumentCount: 2) { arguments in
    guard case .text(let ignored) = arguments[1] else { return .null }
    return try bytes(of: arguments[0], ignoring: ignored)
  }

  /// As SQLite's from 3.44: the arguments as one text, NULL as nothing.
  private static let concat = BoutiqueFunction("concat", argumentCount: nil) { arguments in
    guard !arguments.isEmpty else { throw FunctionError("concat needs an argument") }
    return .text(arguments.map(\.sqlText).joined())
  }

  /// As SQLite's from 3.43: the bytes of a text or blob, or of a number's text.
  private static let octetLength = BoutiqueFunction("octet_length", argumentCount: 1) { arguments in
    switch arguments[0] {
    case .null: .null
    case .blob(let bytes): .integer(Int64(bytes.count))
    case let value: .integer(Int64(value.sqlText.utf8.count))
    }
  }

  private static func bytes(of value: SQLValue, ignoring ignored: String) throws -> SQLValue {
    if value.isNull { return .null }
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in value.sqlText.unicodeScalars {
      if let digit = Character(character).hexDigitValue, character.isASCII {
        if let first = high {
          bytes.append(first << 4 | UInt8(digit))
          high = nil
        } else {
          high = UInt8(digit)
        }
      } else if high != nil || !ignored.unicodeScalars.contains(character) {
        return .null
      }
    }
    return high == nil ? .blob(bytes) : .null
  }
}

/// An error of a function, whose text SQLite passes on.
private struct FunctionError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension SQLValue {
  /// The value as text, by the rules of a CAST.
  fileprivate var sqlText: String {
    switch self {
    case .null: ""
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let text): text
    case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }
}
