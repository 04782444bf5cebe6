import SQLiteConnection
import StructuredQueries
import Synchronization

/// One run of a live query whose list may be kept: brings it up to date if it can, else reads it.
struct KeepingRun<S: Statement> {
  typealias Element = S.QueryValue.Output
  private typealias List = KeptList<S.QueryValue>

  let statement: S
  let select: SingleTableSelect
  let key: RunKey
  let box: KeptBox
  let observed: ObservedRead
  let areEqual: (@Sendable (Element, Element) -> Bool)?
  let withRowIDs: Bool

  /// A query as fast as this is not worth keeping the list of, if that is short.
  static var fast: Duration { .microseconds(200) }

  func read(_ connection: BoutiqueConnection) throws -> Reading<[Element]> {
    let schema = observed.schema.version
    guard !box.isRefused(at: schema) else {
      let rows = try statement.fetchAll(connection)
      // It has grown.
      if rows.count >= 2 * minimum, plan(connection) != nil { box.refuse(at: nil) }
      observed.kept.runs.add(1, ordering: .relaxed)
      return Reading(rows)
    }
    if let list = box.take() as? List, let reading = advance(list, connection) { return reading }
    observed.kept.runs.add(1, ordering: .relaxed)
    let start = MonotonicTime.now()
    guard let position = try observed.position(on: connection.sqlite) else {
      return Reading(try statement.fetchAll(connection))
    }
    guard let plan = plan(connection),
      let query = KeptListQuery(select, plan, width: S.QueryValue.columnCount),
      let list = try List(
        query, position: position, observed: observed, areEqual: areEqual, on: connection)
    else {
      box.refuse(at: schema)
      return Reading(try statement.fetchAll(connection))
    }
    let reading = list.reading(withRowIDs: withRowIDs)
    if withRowIDs || list.count >= minimum || start.duration(to: .now()) > Self.fast {
      box.put(list)
    } else {
      box.refuse(at: schema)
    }
    return reading
  }

  private var minimum: Int { observed.kept.minimumCount.load(ordering: .relaxed) }

  private func plan(_ connection: BoutiqueConnection) -> KeepPlan? {
    observed.schema.keepPlan(of: key) {
      // What is wrong with the statement is told by running it.
      guard let values = try? statement.query.bindings else { return nil }
      return try? KeepPlan(
        select, sql: statement.query.sql, values: values.map { SQLiteValue($0) },
        schema: observed.schema, on: connection.sqlite)
    }
  }

  private func advance(
    _ list: List, _ connection: BoutiqueConnection
  ) -> Reading<[Element]>? {
    guard observed.counter != nil, !observed.isBefore(list.position) else {
      box.put(list)
      return nil
    }
    // With another plan a re-run would show rows with equal terms in another order.
    // An error is left to the run that follows; the list is gone.
    guard plan(connection) == list.query.plan,
      (try? list.advance(observed, on: connection)) == true
    else { return nil }
    observed.recorder.known = list.region
    observed.kept.steps.add(1, ordering: .relaxed)
    let reading = list.reading(withRowIDs: withRowIDs)
    box.put(list)
    return reading
  }
}
