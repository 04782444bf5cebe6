import SQLiteConnection
import SharedFileCoordination

/// What an open database has of its writing side before there is a connection that writes.
struct WriterParts: Sendable {
  let path: String
  let configuration: BoutiqueConfiguration
  let factory: ConnectionFactory
  let files: OpenedFiles?
  let coordination: CoordinationFile?
  let consumers: ActiveConsumers
  let gate: WriteGate
  let hold: HoldRecord
  let checkpointer: Checkpointer
  let hub: ChangeHub

  init(
    path: String, configuration: BoutiqueConfiguration, sharesFile: Bool,
    factory: ConnectionFactory, files: OpenedFiles?, coordination: CoordinationFile?,
    consumers: ActiveConsumers
  ) {
    self.path = path
    self.configuration = configuration
    self.factory = factory
    self.files = files
    self.coordination = coordination
    self.consumers = consumers
    hold = HoldRecord(path: path, configuration: configuration, coordination: coordination)
    let gate = WriteGate(path: path, aging: configuration.backgroundWriteAging) {
      coordination?.writeLease.wakeWaiter()
    } describeHolder: { waited in
      BoutiqueError.lockTimeout(
        LockTimeout(holderOf: coordination, databasePath: path, waited: waited))
    }
    self.gate = gate
    checkpointer = Checkpointer(bound: configuration.writeAheadLogBound)
    hub = ChangeHub(
      source: files.flatMap { files in
        sharesFile
          ? HubSource(
            factory: factory, files: files, pollInterval: configuration.cdcPollInterval,
            usesInotify: configuration.usesInotify,
            adopter: ForeignAdopter(
              gate: gate, path: path, bound: configuration.writeLockTimeout / 10)) : nil
      })
  }
}

/// What serves the writes of an open database.
struct WritingService {
  let parts: WriterParts
  /// nil where it is made when the first write comes.
  let writer: Writer?
}

/// What watches over the connection that writes, and keeps the change log with it.
///
/// Confined to the writer thread.
struct WriterTools {
  let shapes = SchemaShapes()
  private let sqlite: Connection
  private let limits: StatementLimits
  private let facts: TurnFacts
  private let log: ChangeLogWriter
  private let collector: ChangeCollector

  /// Sets a connection up for writing; it has no statement yet that is used again.
  init(
    _ sqlite: Connection, _ limits: StatementLimits, configuration: BoutiqueConfiguration,
    isInMemory: Bool, coordination: CoordinationFile?, consumers: ActiveConsumers
  ) throws {
    self.sqlite = sqlite
    self.limits = limits
    try sqlite.setJournalSizeLimit(configuration.writeAheadLogBound)
    let facts = TurnFacts(
      continuity: isInMemory ? { 1 } : { coordination?.establishedContinuity() },
      bridge: isInMemory ? { nil } : { coordination?.bridge })
    self.facts = facts
    let pruner = LogPruner(sqlite: sqlite, retention: configuration.cdcRetention) { name, place in
      consumers.contains(name) || coordination?.isClaimedByOther(place: place) == true
    }
    log = ChangeLogWriter(
      sqlite: sqlite, label: configuration.label, shapes: shapes, pruner: pruner,
      rowLimit: configuration.captureRowLimit,
      continuity: { (facts.continuity, facts.bridge) },
      report: { [eventHandler = configuration.eventHandler] event in eventHandler?(event) })
    collector = ChangeCollector(
      limits: .init(rows: configuration.captureRowLimit, bytes: configuration.captureByteLimit),
      shapes: shapes)
    // The connection holds the collector, which works for nobody else and so ends before it. Not weakly: once a
    // weak reference was made, each retain and release of the connection takes several times as long.
    collector.readSchema = { [unowned sqlite] in try? SchemaDifference.objects(on: sqlite) }
    collector.schemaMayFail = { [unowned sqlite] in
      CaptureSchema.mayFailWithoutUndoing(sqlite)
    }
    log.onAppend = { [unowned collector] first in
      try ImageLog.write(collector, first: first, on: sqlite)
    }
    // Before the first statement is prepared: a statement prepared without the hook keeps the shortcut
    // by which DELETE without WHERE tells nobody of its rows.
    sqlite.setPreupdateObserver(collector)
    // Nor may it note for foreign writers' sake what the hook sees.
    sqlite.silenceTriggers(
      named: ForeignTriggers.prefix, insertingInto: CaptureSchema.foreignTable)
    sqlite.flushStatementCache()
  }

  func writer(for parts: WriterParts) -> Writer {
    Writer(
      sqlite: sqlite, limits: limits, log: log, collector: collector, files: parts.files,
      coordination: parts.coordination, gate: parts.gate, hub: parts.hub,
      checkpointer: parts.checkpointer, configuration: parts.configuration, hold: parts.hold,
      facts: facts)
  }
}
