import BoutiqueDB
public import Foundation

extension Blackbird {
  /// A value that SQLite stores.
  public enum Value: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER.
    case integer(Int64)
    /// DOUBLE.
    case double(Double)
    /// TEXT.
    case text(String)
    /// BLOB.
    case data(Data)
  }

  /// A row by column name.
  public typealias Row = [String: Blackbird.Value]
}

extension Blackbird.Value {
  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .double(value)
    case .text(let value): self = .text(value)
    case .blob(let value): self = .data(Data(value))
    }
  }

  var sqlValue: SQLValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .double(let value): .real(value)
    case .text(let value): .text(value)
    case .data(let value): .blob([UInt8](value))
    }
  }
}
