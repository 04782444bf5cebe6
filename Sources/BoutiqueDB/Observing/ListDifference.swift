/// A list and what has changed since the one before, for those who draw lists row by row.
///
/// To get from the old list to the new one:
/// 1. take out the elements at `removed` and at every `moved.from`, which are positions in the old list;
/// 2. put the elements that `moved` took out, and new ones at `inserted`, to their positions in the new list, in
///    ascending order;
/// 3. put the new element at each position in `updated`.
///
/// A row of a table is the same row as long as its row id is the same; what moved may be updated as well. Where
/// rows cannot be told apart (joins, groups, closures) elements are told apart by their positions: what is
/// alike at both ends stays, and what lies between is updated, and inserted or removed behind that.
public struct ListDifference<Element: Sendable>: Sendable {
  /// The new list.
  public var elements: [Element]
  /// Positions in the new list, ascending.
  public var inserted: [Int]
  /// Positions in the old list, ascending.
  public var removed: [Int]
  /// Rows that have another place among the others, ascending by their positions in the new list.
  public var moved: [ListMove]
  /// Positions in the new list of rows whose content is another, ascending.
  public var updated: [Int]

  init(_ elements: [Element], _ positions: ListPositions) {
    self.elements = elements
    inserted = positions.inserted
    removed = positions.removed
    moved = positions.moved
    updated = positions.updated
  }

  /// Whether nothing has changed.
  public var isEmpty: Bool {
    inserted.isEmpty && removed.isEmpty && moved.isEmpty && updated.isEmpty
  }

  /// Turns the old list into the new one.
  public func apply(to list: inout [Element]) {
    let taken = moved.map { list[$0.from] }
    for position in (removed + moved.map(\.from)).sorted().reversed() {
      list.remove(at: position)
    }
    let arrivals =
      inserted.map { ($0, elements[$0]) } + zip(moved, taken).map { ($0.to, $1) }
    for (position, element) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      list.insert(element, at: position)
    }
    for position in updated { list[position] = elements[position] }
  }
}

extension ListDifference: Equatable where Element: Equatable {}

/// A row of a list that has another place.
public struct ListMove: Hashable, Sendable {
  /// Its position in the old list.
  public var from: Int
  /// Its position in the new list.
  public var to: Int

  /// Creates a description of a move.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }
}
