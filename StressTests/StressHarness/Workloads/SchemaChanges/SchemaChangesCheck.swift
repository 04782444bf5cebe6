import BoutiqueDB
package import StressHistory

extension SchemaChangesWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    var violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let looks: [@Sendable (BoutiqueConnection) throws -> Void] = [
      { _ = try SchemaShow.items($0) }, { _ = try SchemaShow.view($0) },
      { _ = try SchemaShow.scratch($0) },
    ]
    for look in looks {
      do {
        try await db.read(look)
      } catch let wrong as WrongRow {
        violations.append(Violation(check: "wrong row", text: wrong.text))
      } catch  where SchemaShow.isOfAbsence(error) {
        // It is dropped at the moment.
      }
    }
    let entries = try await db.read { connection in
      try connection.query("SELECT process, number FROM entry ORDER BY id").map {
        EntryID(try $0.decode(0), try $0.decode(1))
      }
    }
    await db.close()
    return violations
      + Acknowledged.violations(entries: entries, names: ["move"], run, history)
  }
}
