import Foundation
import LockInspection

/// The result as one JSON object, in the form that the manual page promises.
enum JSONReport {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The model has neither a number that JSON lacks nor a key that is not text.
    guard let data = try? encoder.encode(value) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}
