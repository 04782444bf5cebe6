/// What is done to the models of the `models` benchmark.
enum ModelsWork: String, CaseIterable, Codable, Sendable {
  case writeAll = "write all, one transaction"
  case readAll = "read all"
  case updateAll = "change and write all, one transaction"
  case readKeys = "read by key, in one transaction"
  case readKeysEach = "read by key, each awaited"

  /// The most that the time may be as a multiple of plain C's.
  var target: Double { self == .readAll ? 4 : 3 }
}

/// Who does it.
enum ModelsVariant: String, CaseIterable, Codable, Sendable {
  /// Plain C on libsqlite3.
  case plain
  /// Blackbird's interface.
  case models
}

/// What a worker of the `models` benchmark does.
struct ModelsOrders: Codable, Sendable {
  var path: String
  var variant: ModelsVariant
  /// How many rows the table has.
  var rows: Int
  /// How many reads by key.
  var keys: Int
}
