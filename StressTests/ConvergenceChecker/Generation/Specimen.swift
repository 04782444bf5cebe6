extension ScenarioGenerator {
  /// A small scenario with something of everything, in which each planted fault shows.
  package static func specimen(plant: Plant?) -> Scenario {
    var scenario = Scenario(seed: 0, rounds: 1, isMadeByForeigner: false)
    scenario.plant = plant
    scenario.processes = [
      ProcessPlan(name: "library1", role: .library, settings: Settings()),
      ProcessPlan(name: "observer1", role: .observer, settings: Settings()),
    ]
    scenario.schema = [
      "CREATE TABLE converge_counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)",
      "INSERT INTO converge_counter VALUES (1, 0)",
      "CREATE TABLE converge_ledger (id TEXT PRIMARY KEY, counter INTEGER) WITHOUT ROWID",
      "CREATE TABLE converge_account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)",
      "INSERT INTO converge_account VALUES (1, 400), (2, 400)",
      "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)",
    ].map { SchemaStatement(name: "", sql: $0) }
    scenario.operations = (1...10).map { number in
      var operation = Operation(id: number, round: 0, writer: "library1", kind: .transaction)
      operation.steps = [
        .statement("UPDATE converge_account SET balance = balance - 1 WHERE id = 1"),
        .statement("UPDATE converge_account SET balance = balance + 1 WHERE id = 2"),
        .statement("REPLACE INTO note VALUES (\(number % 3), 'title \(number)')"),
      ]
      operation.probe = 1
      return operation
    }
    scenario.queries = [
      QueryPlan(
        id: 1, observer: "observer1", sql: ["SELECT balance FROM converge_account ORDER BY id"],
        isCounted: true, constantSum: Ledger.total),
      QueryPlan(
        id: 2, observer: "observer1", sql: ["SELECT * FROM note ORDER BY id"], restartsAfter: 2),
      QueryPlan(
        id: 3, observer: "observer1", sql: ["SELECT count(*) FROM note"], style: .property),
    ]
    scenario.feeds = [
      FeedPlan(id: 1, observer: "observer1", kind: .live),
      FeedPlan(id: 2, observer: "observer1", kind: .resuming, every: 3),
    ]
    return scenario
  }
}
