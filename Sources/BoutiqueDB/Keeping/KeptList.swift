import SQLiteConnection
import StructuredQueries

/// The rows of a statement over one table, in order, with what it takes to bring them up to date.
///
/// ```
/// commit ─▶ rows changed, from the log ─▶ read again by key, same condition ─▶ out, in, moved, replaced
/// ```
///
/// With a limit more rows are kept than are shown: all that come no later than `boundary`. When there are too
/// few of them, the query runs again.
///
/// Two arrays take turns, each a change behind the other, since whoever was given one usually holds it until
/// he gets the next. So no array is copied element by element: what is changed is held by nobody else.
///
/// `@unchecked Sendable`: it is used by whoever has taken it out of its `KeptBox`, and by nobody else.
final class KeptList<Row: QueryRow>: KeptContent, @unchecked Sendable {
  typealias Element = Row.Output

  let query: KeptListQuery
  private(set) var position: LogPosition
  private let schemaVersion: Int64?
  let region: TableRegion
  private var keys = KeyTable()
  /// The last key that is kept for certain; nil when all rows are.
  private var boundary: [UInt8]?
  private var front: [Element] = []
  private var back: [Element] = []
  /// What `back` has yet to be told.
  private var pending: ListEdit<Element>?
  private var version: KeptVersion?
  private var change: KeptChange?
  private let areEqual: (@Sendable (Element, Element) -> Bool)?

  /// Runs the query and keeps what it reads.
  ///
  /// - Returns: nil when the rows do not come in the order that was worked out.
  init?(
    _ query: KeptListQuery, position: LogPosition, observed: ObservedRead,
    areEqual: (@Sendable (Element, Element) -> Bool)?, on connection: BoutiqueConnection
  ) throws {
    self.query = query
    self.position = position
    self.areEqual = areEqual
    schemaVersion = observed.schema.version
    var keys = KeyTable()
    var rows: [Element] = []
    var isKnown = true
    let reader = RowReader<Row>(query)
    try connection.withRows(of: query.all) { steps in
      while isKnown, let row = try reader.next(&steps) {
        isKnown = keys.append(row.rowID, row.key)
        rows.append(row.element)
      }
    }
    guard isKnown, reader.isKnown else { return nil }
    if let kept = query.window?.kept, keys.count >= kept {
      boundary = keys.rowIDs.last.flatMap(keys.key)
    }
    self.keys = keys
    front = rows
    back = query.window == nil ? rows : []
    region = try observed.recorder.region()
    version = KeptVersion(serial: KeptVersion.nextSerial())
  }

  /// How many rows are kept.
  var count: Int { keys.count }

  func reading(withRowIDs: Bool) -> Reading<[Element]> {
    var reading: Reading<[Element]>
    if let shown = query.window?.shown(of: front.count) {
      reading = Reading(Array(front[shown]))
      if withRowIDs { reading.rowIDs = Array(keys.rowIDs[shown]) }
    } else {
      reading = Reading(front)
      if withRowIDs { reading.rowIDs = keys.rowIDs }
    }
    reading.version = version
    reading.change = change
    return reading
  }

  // MARK: Bringing it up to date

  /// Brings the list to the snapshot of a read.
  ///
  /// - Returns: false when the query has to run; then the list is good for nothing any more.
  func advance(_ observed: ObservedRead, on connection: BoutiqueConnection) throws -> Bool {
    let sqlite = connection.sqlite
    guard schemaVersion == observed.schema.version, let reads = region.tables[query.plan.table],
      let (changed, position) = try observed.changedRows(
        of: query.plan.table, after: position, reads: reads, atMost: max(64, count / 8),
        on: sqlite)
    else { return false }
    if !changed.isEmpty {
      guard let rows = try query.rows(changed, of: Row.self, on: connection) else {
        return false
      }
      apply(changed, rows)
    }
    self.position = position
    if let window = query.window, let kept = window.kept {
      // Rows beyond the last one kept would have to move up.
      if boundary != nil, count < window.needed { return false }
      if count > 2 * kept {
        keys.truncate(to: kept)
        front.removeLast(front.count - kept)
        boundary = keys.rowIDs.last.flatMap(keys.key)
      }
    }
    if keys.isWasteful { keys.compact() }
    return true
  }

  private func apply(_ changed: Set<Int64>, _ rows: [Int64: (element: Element, key: [UInt8])]) {
    var removed: [(position: Int, rowID: Int64)] = []
    var arrivals: [(rowID: Int64, element: Element, key: [UInt8])] = []
    var replaced: [(position: Int, element: Element)] = []
    for rowID in changed {
      let old = keys.key(of: rowID).map { keys.lowerBound(of: $0) }
      var new = rows[rowID]
      if let boundary, let key = new?.key, compareBytes(key, boundary) > 0 { new = nil }
      if let old, let new, keys.compare(rowID, new.key) == 0 {
        replaced.append((old, new.element))
      } else {
        if let old { removed.append((old, rowID)) }
        if let new { arrivals.append((rowID, new.element, new.key)) }
      }
    }
    removed.sort { $0.position < $1.position }
    arrivals.sort { compareBytes($0.key, $1.key) < 0 }
    let gone = removed.map(\.position)
    var ranks: [Int] = []
    var edit = ListEdit<Element>(removed: gone)
    var order = ListEdit<Int64>(removed: gone)
    for (index, arrival) in arrivals.enumerated() {
      let place = keys.lowerBound(of: arrival.key)
      let rank = place - gone.countOfLess(than: place)
      ranks.append(rank)
      edit.inserted.append((rank + index, arrival.element))
      order.inserted.append((rank + index, arrival.rowID))
    }
    replaced.sort { $0.position < $1.position }
    for (position, element) in replaced {
      let rank = position - gone.countOfLess(than: position)
      edit.replaced.append((rank + ranks.countOfLess(than: rank + 1), element))
    }
    let isNoMove =
      removed.count == 1 && arrivals.count == 1 && order.inserted[0].position == gone[0]
      && removed[0].rowID == arrivals[0].rowID
    for (_, rowID) in removed { keys.removeKey(of: rowID) }
    for arrival in arrivals { keys.setKey(arrival.key, of: arrival.rowID) }
    keys.reorder(order)
    show(
      edit, removed.map(\.rowID), arrivals.map(\.rowID), replaced.map(\.position),
      isNoMove: isNoMove)
  }

  /// Changes the array that is shown, and notes what can be seen of it.
  private func show(
    _ edit: ListEdit<Element>, _ removed: [Int64], _ arrived: [Int64], _ replaced: [Int],
    isNoMove: Bool
  ) {
    guard !edit.isEmpty else { return }
    guard query.window == nil else {
      edit.apply(to: &front)
      version?.number += 1
      change = nil
      return
    }
    if let pending { pending.apply(to: &back) }
    edit.apply(to: &back)
    swap(&front, &back)
    pending = edit
    // `back` is what was shown before.
    var positions = ListPositions()
    let from = Dictionary(zip(removed, edit.removed)) { first, _ in first }
    var moved: Set<Int64> = []
    for (rowID, place) in zip(arrived, edit.inserted) {
      guard let old = from[rowID] else {
        positions.inserted.append(place.position)
        continue
      }
      moved.insert(rowID)
      if !isNoMove { positions.moved.append(ListMove(from: old, to: place.position)) }
      if areEqual?(back[old], place.element) != true { positions.updated.append(place.position) }
    }
    for (rowID, place) in zip(removed, edit.removed) where !moved.contains(rowID) {
      positions.removed.append(place)
    }
    for (old, place) in zip(replaced, edit.replaced)
    where areEqual?(back[old], place.element) != true {
      positions.updated.append(place.position)
    }
    positions.updated.sort()
    guard positions != ListPositions() else { return }
    version?.number += 1
    change = KeptChange(differs: differs(at: edit), positions: positions)
  }

  /// Whether the two arrays differ, as far as a few places tell.
  private func differs(at edit: ListEdit<Element>) -> Bool {
    if front.count != back.count { return true }
    guard let areEqual else { return true }
    let places = edit.replaced.map(\.position) + edit.inserted.map(\.position) + edit.removed
    return places.prefix(64).contains { place in
      place < front.count && !areEqual(front[place], back[place])
    }
  }
}

extension [Int] {
  /// How many numbers of an ascending list are smaller.
  fileprivate func countOfLess(than limit: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < limit { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
