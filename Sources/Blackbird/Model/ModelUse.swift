/// What a transaction needs again and again for the rows of one model, made once.
final class ModelUse {
  let model: any BlackbirdModel.Type
  let table: ModelTable
  /// Whether the table was looked at in this transaction.
  var isPrepared = false
  private let database: Int64
  private var idleCollector: ColumnCollector?
  private var idleDecoder: RowDecoder?

  init(_ model: any BlackbirdModel.Type, database: Int64) throws {
    self.model = model
    self.database = database
    table = try ModelTables.table(of: model)
  }

  /// Calls `body` with a collector; a model's own code that comes back here meanwhile gets another.
  func withCollector<R>(_ body: (ColumnCollector) throws -> R) throws -> R {
    let collector = idleCollector ?? ColumnCollector(table)
    idleCollector = nil
    defer { idleCollector = collector }
    return try body(collector)
  }

  /// Calls `body` with a decoder, on the rows of which this thread is meanwhile; a model's own code that comes back
  /// here gets another.
  func withDecoder<R>(_ body: (RowDecoder) throws -> R) throws -> R {
    let decoder = idleDecoder ?? RowDecoder(table, database: database)
    idleDecoder = nil
    defer { idleDecoder = decoder }
    return try decoder.decodingRows { try body(decoder) }
  }

  /// Lets go of what refers to itself.
  func end() {
    idleCollector?.forgetContainer()
    idleDecoder?.forgetContainer()
    idleCollector = nil
    idleDecoder = nil
  }
}

extension Blackbird.Database.Core {
  /// Returns what the transaction has for a model; the last one is found at once.
  ///
  /// - Throws: ``BlackbirdTableError/invalidModel(type:description:)``.
  func use(_ model: any BlackbirdModel.Type) throws -> ModelUse {
    if let lastUse, lastUse.model == model { return lastUse }
    let id = ObjectIdentifier(model)
    let use = try uses[id] ?? ModelUse(model, database: database.id)
    uses[id] = use
    lastUse = use
    return use
  }

  /// Looks at the table of a model, the first time in the transaction.
  func prepare(_ use: ModelUse) throws {
    guard !use.isPrepared else { return }
    try prepare(use.table)
    use.isPrepared = true
  }

  /// Forgets that tables were looked at: what was done to them may have been undone.
  func forgetChecks() {
    checkedModels = []
    for use in uses.values { use.isPrepared = false }
  }

  /// Forgets all of it, at the end of the transaction.
  func endUses() {
    for use in uses.values { use.end() }
    uses = [:]
    lastUse = nil
  }
}
