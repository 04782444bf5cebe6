public import BoutiqueDB
import Foundation

/// A type that is stored as the JSON text of what it codes.
///
/// Arrays, sets and dictionaries of values that can be columns can be columns in this way, too.
public protocol BlackbirdStorableAsJSON: BlackbirdColumnWrappable {}

extension BlackbirdStorableAsJSON {
  /// TEXT.
  public static var columnType: Blackbird.ColumnType { .text }
  /// Returns the value that the JSON text codes.
  public static func fromValue(_ value: Blackbird.Value) -> Self? {
    value.stringValue.flatMap { _restored(.text($0)) }
  }
  /// Returns the value that a JSON text codes.
  public static func _restored(_ value: SQLValue) -> Self? {
    guard case .text(let text) = value else { return nil }
    return try? JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }
  /// Returns JSON with its keys in order, so that equal values have equal texts.
  public func _stored() throws -> SQLValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return .text(String(decoding: try encoder.encode(self), as: UTF8.self))
    } catch {
      throw ColumnValueFailure(self, "it has no JSON: \(error)")
    }
  }
  /// The value of zeros and empty texts.
  public static var _placeholder: Self? { try? Self(from: BlackbirdDefaultsDecoder()) }
  /// The value of zeros and empty texts.
  public static var _newColumnValue: SQLValue? { try? _placeholder?._stored() }
}

extension Array: BlackbirdColumnWrappable, BlackbirdStorableAsJSON
where Element: BlackbirdColumnWrappable {
  /// The empty array.
  public static var _placeholder: [Element]? { [] }
}
extension Set: BlackbirdColumnWrappable, BlackbirdStorableAsJSON
where Element: BlackbirdColumnWrappable {
  /// The empty set.
  public static var _placeholder: Set<Element>? { [] }
}
extension Dictionary: BlackbirdColumnWrappable, BlackbirdStorableAsJSON
where Key: BlackbirdColumnWrappable, Value: BlackbirdColumnWrappable {
  /// The empty dictionary.
  public static var _placeholder: [Key: Value]? { [:] }
}
