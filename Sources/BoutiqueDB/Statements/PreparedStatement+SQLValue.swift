import SQLiteConnection
import StructuredQueries

// The one place where values of StructuredQueries meet statements of SQLiteConnection.

extension PreparedStatement {
  func bind(_ value: SQLValue, at index: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let value): try bind(value, at: index)
    case .real(let value): try bind(value, at: index)
    case .text(let value): try bind(value, at: index)
    case .blob(let bytes): try bind(blob: bytes, at: index)
    }
  }

  func value(_ column: Int) -> SQLValue {
    switch columnType(column) {
    case .null: .null
    case .integer: .integer(int64(column))
    case .real: .real(double(column))
    case .text: .text(text(column))
    case .blob: .blob(blob(column))
    }
  }
}

extension SQLValue {
  init(_ value: SQLiteValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .text(let value): self = .text(value)
    case .blob(let bytes): self = .blob(bytes)
    }
  }
}

extension SQLiteValue {
  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .text(let value): self = .text(value)
    case .blob(let bytes): self = .blob(bytes)
    }
  }
}
