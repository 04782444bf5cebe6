import Foundation
import SQLiteConnection

/// What tells one row of a table from the others.
enum RowKey: Hashable, Sendable {
  case rowID(Int64)
  case columns([SQLiteValue])
  /// Not one row but all of them.
  case whole
}

/// One change as the hook saw it.
struct RecordedChange: Hashable, Sendable {
  /// The numbers are Turso's `change_type`.
  enum Kind: Int, Sendable {
    case delete = -1
    case update = 0
    case insert = 1
  }

  var kind: Kind
  /// A position in the summary's list of tables.
  var table: Int
  var key: RowKey
  /// For an update, the positions of the columns whose values differ.
  var columns: [Int]
}

/// What one commit changed: the content of its row in the change log.
///
/// Stored as two JSON texts, so that any program that reads SQLite can follow: the tables' names, and an
/// array `[type, table, key, columns?]` for each change, in the order in which they happened. A key is a
/// row id, an array of key column values, or null for the whole table; a blob in a key is an object
/// `{"x": "<hex>"}`.
struct CommitSummary: Hashable, Sendable {
  var tables: [String]
  var changes: [RecordedChange]

  // MARK: Writing

  var tablesJSON: [UInt8] {
    var text = JSONBytes(capacity: 2 + tables.count * 24)
    text.append("[")
    for (index, name) in tables.enumerated() {
      if index > 0 { text.append(",") }
      text.append(string: name)
    }
    text.append("]")
    return text.bytes
  }

  var changesJSON: [UInt8] {
    var text = JSONBytes(capacity: 2 + changes.count * 16)
    text.append("[")
    for (index, change) in changes.enumerated() {
      if index > 0 { text.append(",") }
      text.append("[")
      text.append(change.kind.rawValue)
      text.append(",")
      text.append(change.table)
      text.append(",")
      text.append(change.key)
      if !change.columns.isEmpty {
        var separator: Unicode.Scalar = "["
        text.append(",")
        for column in change.columns {
          text.append(separator)
          text.append(column)
          separator = ","
        }
        text.append("]")
      }
      text.append("]")
    }
    text.append("]")
    return text.bytes
  }

  // MARK: Reading

  /// Creates a summary from the stored texts; nil when they are not what this library writes.
  init?(tablesJSON: String, changesJSON: String) {
    guard
      let names = try? JSONSerialization.jsonObject(with: Data(tablesJSON.utf8)) as? [String],
      let list = try? JSONSerialization.jsonObject(with: Data(changesJSON.utf8)) as? [[Any]]
    else { return nil }
    tables = names
    changes = []
    changes.reserveCapacity(list.count)
    for item in list {
      guard item.count >= 3, let number = item[0] as? Int,
        let kind = RecordedChange.Kind(rawValue: number),
        let table = item[1] as? Int, names.indices.contains(table), let key = RowKey(json: item[2])
      else { return nil }
      let columns = item.count > 3 ? (item[3] as? [Int] ?? []) : []
      changes.append(RecordedChange(kind: kind, table: table, key: key, columns: columns))
    }
  }

  init(tables: [String], changes: [RecordedChange]) {
    self.tables = tables
    self.changes = changes
  }
}

extension RowKey {
  fileprivate init?(json: Any) {
    switch json {
    case is NSNull: self = .whole
    case let values as [Any]:
      var key: [SQLiteValue] = []
      for value in values {
        switch value {
        case is NSNull: key.append(.null)
        case let text as String: key.append(.text(text))
        case let blob as [String: String]: key.append(.blob([UInt8](hex: blob["x"] ?? "")))
        // A real is always written with a fraction or exponent, but the parser drops that.
        case let number as Int64: key.append(.integer(number))
        case let number as Double: key.append(.real(number))
        default: return nil
        }
      }
      self = .columns(key)
    case let number as Int64: self = .rowID(number)
    default: return nil
    }
  }
}

extension [UInt8] {
  fileprivate init(hex: String) {
    self = []
    var high: UInt8?
    for digit in hex.utf8 {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue.map(UInt8.init) else {
        continue
      }
      if let first = high {
        append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
  }
}
