import BoutiqueDB
import Foundation

/// A type whose values can be given as an argument.
protocol BlackbirdArgument {
  /// The value as SQLite stores it.
  func argumentValue() throws -> Blackbird.Value
}

extension Blackbird.Value {
  /// Returns the value of the database for a Swift value.
  ///
  /// Takes nil and `NSNull`, `Bool`, integers up to 32 bits and `Int` and `Int64`, `Float`, `Double`, `Date`
  /// (seconds since 1970), strings, `URL` (the absolute string), `UUID` (its lower-case text), `Data`, and
  /// optionals of them.
  ///
  /// - Throws: ``Error/cannotConvertToValue`` for everything else: `UInt` and `UInt64` too, which SQLite
  ///   cannot hold.
  public static func fromAny(_ value: Any?) throws -> Blackbird.Value {
    guard let value else { return .null }
    switch value {
    case let value as Blackbird.Value: return value
    case let value as any OptionalArgument:
      return try value.unwrapped.map { try fromAny($0) } ?? .null
    case let value as any BlackbirdArgument: return try value.argumentValue()
    case is NSNull: return .null
    case is UInt, is UInt64: throw Error.cannotConvertToValue
    case let value as any BlackbirdColumnWrappable: return Blackbird.Value(try value._stored())
    default: throw Error.cannotConvertToValue
    }
  }
}

private protocol OptionalArgument {
  var unwrapped: Any? { get }
}

extension Optional: OptionalArgument {
  fileprivate var unwrapped: Any? {
    if case .some(let value) = self { value } else { nil }
  }
}

extension BlackbirdArgument where Self: BinaryInteger {
  func argumentValue() -> Blackbird.Value { .integer(Int64(self)) }
}
extension Int: BlackbirdArgument {}
extension Int8: BlackbirdArgument {}
extension Int16: BlackbirdArgument {}
extension Int32: BlackbirdArgument {}
extension Int64: BlackbirdArgument {}
extension UInt8: BlackbirdArgument {}
extension UInt16: BlackbirdArgument {}
extension UInt32: BlackbirdArgument {}

extension Bool: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .integer(self ? 1 : 0) }
}
extension Double: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .double(self) }
}
extension Float: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .double(Double(self)) }
}
extension Date: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .double(timeIntervalSince1970) }
}
extension String: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .text(self) }
}
extension Substring: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .text(String(self)) }
}
extension URL: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .text(absoluteString) }
}
extension UUID: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .text(uuidString.lowercased()) }
}
extension Data: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { .data(self) }
}
extension SQLValue: BlackbirdArgument {
  func argumentValue() -> Blackbird.Value { Blackbird.Value(self) }
}
