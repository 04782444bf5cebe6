/// What kind of scenario is wanted; everything else is drawn from the seed.
package struct ScenarioOptions: Sendable {
  /// How many times writers run and pause.
  package var rounds = 5
  /// Writers by kind.
  package var writers: [ProcessPlan.Role: Int] = [.library: 2, .python: 1, .shell: 1]
  /// Observing processes.
  package var observers = 2
  /// Transactions of each writer in each round.
  package var operations = 8
  /// Live queries in each observer.
  package var queries = 8
  /// Feeds in each observer.
  package var feeds = 2
  /// What may go wrong.
  package var disturbances = Set(Disturbance.Kind.allCases)
  /// A fault of the checker's own.
  package var plant: Plant?

  /// The usual kind.
  package init() {}
}

/// Makes a scenario from a seed.
package enum ScenarioGenerator {
  /// Returns the scenario of a seed; the same for the same options.
  package static func scenario(seed: UInt64, options: ScenarioOptions) -> Scenario {
    var random = SeededRandom(seed: seed, purpose: "scenario")
    let schema = SchemaGenerator(seed: seed)
    var scenario = Scenario(
      seed: seed, rounds: options.rounds, isMadeByForeigner: random.chance(50))
    scenario.plant = options.plant
    scenario.schema = schema.statements

    // What refreshes everything makes up for what was missed before. So many scenarios have none of it: no
    // foreign writer, no tight limit, no VACUUM.
    let isFine = random.chance(45) && (options.writers[.library] ?? 0) > 0
    var drawn = SettingsGenerator(seed: seed, tables: schema.tables.map(\.name), isFine: isFine)
    for role in [ProcessPlan.Role.library, .python, .shell] {
      for number in 0..<(role != .library && isFine ? 0 : options.writers[role] ?? 0) {
        scenario.processes.append(
          ProcessPlan(
            name: "\(role.rawValue)\(number + 1)", role: role, settings: drawn.settings(),
            lanes: role == .library ? random.int(1...6) : 1))
      }
    }
    let writers = scenario.processes.map(\.name)
    let observing = scenario.processes.filter { $0.role == .library && random.chance(50) }
      .map(\.name)
    var queries = QueryGenerator(seed: seed, tables: schema.tables, views: schema.views)
    let observers = (0..<options.observers).map { "observer\($0 + 1)" }
    for name in observers {
      scenario.processes.append(
        ProcessPlan(name: name, role: .observer, settings: drawn.settings()))
    }
    for name in observers + observing {
      scenario.queries += queries.queries(
        of: name, count: options.queries, from: scenario.queries.count)
      for _ in 0..<options.feeds {
        scenario.feeds.append(
          FeedPlan(
            id: scenario.feeds.count, observer: name,
            kind: random.pick(FeedPlan.Kind.allCases) ?? .live,
            pause: random.chance(25) ? random.int(1...5) : 0, every: random.int(2...20)))
      }
    }
    // The same question from two processes: their answers at one counter must be the same.
    let asked = scenario.queries.filter(\.isCounted)
    for number in 0..<(options.observers > 1 ? asked.count : 0) {
      var twin = asked[number]
      guard let other = random.pick((1...options.observers).map { "observer\($0)" }) else {
        continue
      }
      twin.id = scenario.queries.count
      twin.observer = other
      twin.restartsAfter = nil
      scenario.queries.append(twin)
      if number >= 3 { break }
    }
    scenario.operations = operations(
      of: scenario, writers, schema.tables, options, isFine: isFine)
    scenario.disturbances = disturbances(of: scenario, writers, options, &random)
    return scenario
  }

  private static func operations(
    of scenario: Scenario, _ writers: [String], _ tables: [TableModel], _ options: ScenarioOptions,
    isFine: Bool
  ) -> [Operation] {
    let counted = scenario.queries.filter(\.isCounted).map(\.id)
    var operations: [Operation] = []
    for writer in writers {
      guard let plan = scenario.process(writer) else { continue }
      var random = SeededRandom(seed: scenario.seed, purpose: writer)
      var statements = StatementGenerator(
        seed: scenario.seed, purpose: writer + "'s statements", tables: tables,
        isFine: isFine)
      for round in 0..<options.rounds {
        for _ in 0..<options.operations {
          var operation = Operation(
            id: operations.count, round: round, writer: writer, kind: .transaction)
          switch random.int(1...100) {
          case ...5: operation.kind = .rollback
          case ...7: if !isFine { operation.kind = .vacuum }
          case ...10:
            if plan.role == .library || plan.settings.foreignCheckpoints {
              operation.kind = .checkpoint
            }
          case ...13:
            if plan.role != .shell { operation.kind = .reopen }
          default: break
          }
          if operation.kind == .transaction || operation.kind == .rollback {
            operation.steps = statements.steps()
            operation.isStampedFirst = random.chance(50)
          }
          if operation.kind == .transaction, plan.role != .shell, random.chance(50) {
            operation.probe = random.pick(counted)
          }
          operations.append(operation)
        }
      }
    }
    return operations
  }

  private static func disturbances(
    of scenario: Scenario, _ writers: [String], _ options: ScenarioOptions,
    _ random: inout SeededRandom
  ) -> [Disturbance] {
    let kinds = Disturbance.Kind.allCases.filter(options.disturbances.contains)
    guard !kinds.isEmpty else { return [] }
    // A transaction of the shell is a process of its own, gone before a signal could find it.
    let all = scenario.processes.filter { $0.role != .shell }.map(\.name)
    // A writer is closed and opened again by its script.
    let observers = scenario.processes.filter { $0.role == .observer }.map(\.name)
    var disturbances: [Disturbance] = []
    for round in 0..<options.rounds {
      for _ in 0..<random.int(0...3) {
        var disturbance = Disturbance(
          round: round, after: random.int(0...(writers.count * options.operations)),
          kind: random.pick(kinds) ?? .stop)
        switch disturbance.kind {
        case .kill: disturbance.target = random.pick(all)
        case .stop:
          disturbance.target = random.pick(all)
          disturbance.milliseconds = random.int(5...200)
        case .reopen: disturbance.target = random.pick(observers)
        case .deleteLockFile: break
        }
        disturbances.append(disturbance)
      }
    }
    return disturbances.sorted { ($0.round, $0.after) < ($1.round, $1.after) }
  }
}

/// Draws how processes open the database.
struct SettingsGenerator {
  private var random: SeededRandom
  private let tables: [String]
  /// What must be the same for all: what the log keeps and how foreigners are seen is a matter of the file.
  private let isPrecise: Bool

  private let isFine: Bool

  init(seed: UInt64, tables: [String], isFine: Bool) {
    self.isFine = isFine
    random = SeededRandom(seed: seed, purpose: "settings")
    self.tables = tables
    isPrecise = random.chance(50)
  }

  mutating func settings() -> Settings {
    var settings = Settings()
    settings.pollInterval = random.one(20, 100, 250, 1000)
    settings.usesInotify = random.chance(75)
    settings.readerCount = random.one(1, 2, 4)
    if !isFine {
      settings.captureRowLimit = random.one(1, 3, 10, 1000, 1000)
      settings.retention = random.one(5, 50, 100_000, 100_000)
    }
    settings.groupCommitLimit = random.one(1, 2, 16, 16)
    settings.isForeignCapturePrecise = isPrecise
    settings.synchronous = random.one("off", "normal", "normal")
    settings.foreignKeys = random.chance(75)
    settings.foreignCheckpoints = random.chance(20)
    for table in tables where random.chance(20) {
      settings.captureModes[table] = random.one("id", "before", "after", "full")
    }
    return settings
  }
}
