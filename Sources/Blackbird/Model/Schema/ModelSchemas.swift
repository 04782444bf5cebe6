import BoutiqueDB
import Synchronization

// How a database comes to have the table of a model, with other processes doing the same.
//
// 1. First use: a look in a snapshot. Where the table fits, that is all: no lock is taken.
// 2. Otherwise a transaction of the library's own (`BoutiqueDB.alterSchema`) looks again and makes or alters
//    it. Of processes that do so at the same moment the first one acts; the others find it done.
// 3. Inside a user's transaction the look and the act are part of that transaction, and what this process
//    remembers of them is forgotten when it is rolled back.
// 4. What is remembered is the number of the schema at the look (`PRAGMA schema_version`), which every
//    change of any table moves. Every transaction that uses the model compares it first, in its own snapshot,
//    and there is another look where it has moved. To leave that to errors would not do: a column whose type
//    has changed is compared by other rules, without any error.
// 5. Once a model has been used here it alters nothing any more: a table that has changed since was altered
//    by somebody newer. It is used as it is where the model can work with it, and refused otherwise.
// 6. At first use the same is found out from `SchemaHistory`.
//    A shape that is not in the history is a newer one's, unless the table has been altered before and would
//    lose columns: then nobody can tell, and it is refused.
// 7. Who says so (`goingBack`) alters it all the same, under the rules for every alteration, and the shape
//    becomes the newest. Nothing else ever goes back: two versions that run side by side would do it in turn.
//
// A process that dies while it alters leaves a transaction that SQLite undoes.

/// What a database knows about the tables of models.
final class ModelSchemas: DatabaseAttachment {
  /// The number of the schema when a model's table was looked at last.
  private let known = Mutex<[ObjectIdentifier: Int64]>([:])
  /// Is told of tables with a full-text index.
  private let searched: SearchedTables

  init(searched: SearchedTables) { self.searched = searched }

  func version(of table: ModelTable) -> Int64? { known.withLock { $0[table.typeID] } }

  func set(_ version: Int64?, for table: ModelTable) {
    known.withLock { $0[table.typeID] = version }
    if version != nil, !table.searchedColumns.isEmpty { searched.insert(table.name) }
  }
}

extension Blackbird.Database {
  var schemas: ModelSchemas {
    let searched = searchedTables
    return attachments.get { ModelSchemas(searched: searched) }
  }

  /// Sees to it that the table of a model is there and fits, unless that is known.
  func prepare(_ table: ModelTable) async throws {
    if schemas.version(of: table) == nil { try await resolve(table, isExplicit: false) }
  }

  /// Looks at the table of a model, and makes or alters it where that is needed.
  @discardableResult
  func resolve(
    _ table: ModelTable, isExplicit: Bool, goingBack: Bool = false
  ) async throws -> BlackbirdModelSchemaResolution {
    if !isExplicit, options.contains(.requireModelSchemaValidationBeforeUse) {
      throw BlackbirdTableError.notResolved(type: table.typeName)
    }
    let wasUsed = !goingBack && schemas.version(of: table) != nil
    let (judgement, version) = try await read { core in
      let connection = try core.connection()
      return (
        try SchemaJudgement.of(table, wasUsed: wasUsed, goingBack: goingBack, on: connection),
        try connection.schemaVersion()
      )
    }
    switch judgement {
    case .fits:
      schemas.set(version, for: table)
      return []
    case .refused(let error): throw error
    case .missing, .differs: break
    }
    if options.contains(.readOnly) {
      throw BlackbirdTableError.readOnlyDatabase(
        type: table.typeName, table: table.name,
        description: judgement.isMissing ? "it is missing" : "it does not have the type's columns")
    }
    let engine = try await engine()
    let (done, now) = try await Error.translating {
      try await engine.alterSchema("the table of \(table.typeName)") { connection in
        let done = try SchemaJudgement.act(
          on: table, wasUsed: wasUsed, goingBack: goingBack, isOwnTransaction: true, connection)
        return (done, try connection.schemaVersion())
      }
    }
    schemas.set(now, for: table)
    return done
  }

  /// Runs a closure on a reader, with the table of a model there, and again where the table has changed.
  func read<R: Sendable>(
    _ table: ModelTable,
    _ body: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    try await waitArtificially()
    return try await retrying(table) {
      try await read { core in
        try core.requireKnown(table)
        return try body(core)
      }
    }
  }

  /// Does something with the table of a model there, and again where the table has changed.
  func retrying<R: Sendable>(
    _ table: ModelTable, _ body: @Sendable () async throws -> R
  ) async throws -> R {
    try await prepare(table)
    while true {
      do {
        return try await body()
      } catch is SchemaHasMoved {
        try await resolve(table, isExplicit: true)
      }
    }
  }

  /// Runs a closure in a transaction, with the table of a model there.
  func write<R: Sendable>(
    _ table: ModelTable,
    _ body: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    try await waitArtificially()
    try await prepare(table)
    return try await write(body)
  }

}

/// Thrown inside a snapshot in which the schema is not the one that was looked at; never leaves the library.
private struct SchemaHasMoved: Error {}

extension Blackbird.Database.Core {
  /// Throws where the schema is not the one of the last look at a table.
  func requireKnown(_ table: ModelTable) throws {
    guard try connection().schemaVersion() == database.schemas.version(of: table) else {
      throw SchemaHasMoved()
    }
  }

  /// Sees to it that the table of a model is there and fits, in this transaction.
  func prepare(_ table: ModelTable) throws {
    guard !checkedModels.contains(table.typeID) else { return }
    let connection = try connection()
    let schemas = database.schemas
    let known = schemas.version(of: table)
    let version = try connection.schemaVersion()
    if known != version {
      if known == nil, database.options.contains(.requireModelSchemaValidationBeforeUse) {
        throw BlackbirdTableError.notResolved(type: table.typeName)
      }
      try SchemaJudgement.act(
        on: table, wasUsed: known != nil, isOwnTransaction: false, connection)
      // The number may come from this transaction, and be another's after a rollback.
      undo.append { schemas.set(known, for: table) }
      schemas.set(try connection.schemaVersion(), for: table)
    }
    checkedModels.insert(table.typeID)
  }
}

/// What a look at the table of a model says.
enum SchemaJudgement: Sendable {
  /// It can be used as it is.
  case fits
  case missing
  case differs(StoredTable, SchemaDifference)
  /// It was altered by somebody newer, and this type cannot work with it.
  case refused(BlackbirdTableError)

  var isMissing: Bool {
    if case .missing = self { true } else { false }
  }

  /// Looks at the table.
  ///
  /// - Parameters:
  ///   - wasUsed: whether this process has used it already with this type.
  ///   - goingBack: whether an older shape is wanted all the same.
  static func of(
    _ table: ModelTable, wasUsed: Bool, goingBack: Bool = false, on connection: BoutiqueConnection
  ) throws -> SchemaJudgement {
    guard let stored = try StoredTable.look(at: table, on: connection) else { return .missing }
    let difference = SchemaDifference(of: stored, to: table)
    if difference.isEmpty { return .fits }
    if goingBack { return .differs(stored, difference) }
    let place = try SchemaHistory.place(of: table, on: connection)
    guard wasUsed || place == .older else {
      // A version that was left out here may be older than the one that added these columns.
      // One that is to drop columns says so.
      if place == .unknown, !difference.dropped.isEmpty, !table.allowsColumnDataDeletion,
        try SchemaHistory.isAltered(table, on: connection)
      {
        let columns = difference.dropped.map(\.name).joined(separator: ", ")
        return .refused(
          .schemaChangedByAnother(
            type: table.typeName, table: table.name,
            description:
              "it has \(columns), which this type has not, and the table does not tell which of the "
              + "two is newer"))
      }
      return .differs(stored, difference)
    }
    return table.obstacle(in: stored).map {
      .refused(
        .schemaChangedByAnother(type: table.typeName, table: table.name, description: $0))
    } ?? .fits
  }

  /// Looks at the table, and makes or alters it where that is needed.
  @discardableResult
  static func act(
    on table: ModelTable, wasUsed: Bool, goingBack: Bool = false, isOwnTransaction: Bool,
    _ connection: BoutiqueConnection
  ) throws -> BlackbirdModelSchemaResolution {
    let alteration = SchemaAlteration(
      table: table, connection: connection, isOwnTransaction: isOwnTransaction)
    switch try of(table, wasUsed: wasUsed, goingBack: goingBack, on: connection) {
    case .fits: return []
    case .refused(let error): throw error
    case .missing:
      try alteration.create()
      return table.searchedColumns.isEmpty
        ? .createdTable : [.createdTable, .migratedFullTextIndex]
    case .differs(let stored, let difference):
      return try alteration.alter(stored, difference)
    }
  }
}

extension BoutiqueConnection {
  /// The number that every change of any table moves.
  func schemaVersion() throws -> Int64 {
    guard case .integer(let version)? = try queryOne("PRAGMA schema_version")?[0] else { return -1 }
    return version
  }
}

extension BlackbirdModel {
  /// Makes the table, or alters it to fit the type, before it is used.
  ///
  /// Without it that happens at first use. Of processes that do it at the same moment one acts.
  ///
  /// - Parameters:
  ///   - database: where.
  ///   - goingBack: whether to alter the table to the type's shape even where the table has had it before
  ///     and was altered since. Without it that is never done: the type may be that of an older version of a
  ///     program beside a newer one. With it an edit can be undone and a deployment rolled back; values are
  ///     lost no sooner than by any other alteration. A newer version that still runs works on where it can,
  ///     and gets ``BlackbirdTableError/schemaChangedByAnother(type:table:description:)`` otherwise. Say it
  ///     once, where the decision is made, and not at every start.
  /// - Returns: what was done; nothing where the table was as it should be.
  /// - Throws: ``BlackbirdTableError``; then the database is as it was.
  @discardableResult
  public static func resolveSchema(
    in database: Blackbird.Database, goingBack: Bool = false
  ) async throws -> BlackbirdModelSchemaResolution {
    try await database.resolve(try table, isExplicit: true, goingBack: goingBack)
  }
}
