import SQLiteConnection
import StructuredQueries
import Synchronization

// The text of a statement is made once for each shape. A shape is the statement without its values: the
// same construct of a program has the same shape whenever it runs. The table is bounded; when it is full it
// is emptied, since a program has fewer shapes than that unless it makes them up (lists of varying length).

/// A statement without its values.
private struct Shape: Hashable {
  let segments: [SQLFragment.Segment]

  static func == (a: Shape, b: Shape) -> Bool {
    guard a.segments.count == b.segments.count else { return false }
    for index in a.segments.indices {
      switch (a.segments[index], b.segments[index]) {
      case (.binding, .binding): continue
      case (.text(let a), .text(let b)) where a.hasBytes(of: b): continue
      case (.identifier(let a), .identifier(let b)) where a.hasBytes(of: b): continue
      case (.column(let aScope, let a), .column(let bScope, let b))
      where a.hasBytes(of: b) && aScope == bScope:
        continue
      case (.columns(let aScope, let a), .columns(let bScope, let b))
      where a === b && aScope == bScope:
        continue
      case (.names(let a), .names(let b)) where a == b: continue
      case (.row(let a), .row(let b)) where a.count == b.count: continue
      default: return false
      }
    }
    return true
  }

  func hash(into hasher: inout Hasher) {
    for segment in segments {
      switch segment {
      case .text(let text): hasher.combine(text)
      case .identifier(let name): hasher.combine(name)
      case .column(_, let name): hasher.combine(name)
      case .columns(let scope, _): hasher.combine(scope)
      case .binding: hasher.combine(UInt8(0))
      case .names(let names): hasher.combine(names.count)
      case .row(let bindings): hasher.combine(bindings.count)
      }
    }
  }
}

extension String {
  /// Whether SQLite takes both for the same: Swift also holds equal what Unicode does.
  fileprivate func hasBytes(of other: String) -> Bool {
    ByteExactString(self) == ByteExactString(other)
  }
}

private let capacity = 2048
/// Statements beyond are not remembered: an insert of thousands of rows would keep as many segments alive.
private let segmentLimit = 1024
private let texts = Mutex<[Shape: String]>([:])

extension SQLFragment {
  /// The text, made when a statement of this shape is met for the first time.
  package var cachedSQL: String {
    guard segments.count <= segmentLimit else { return sql }
    let shape = Shape(segments: segments)
    if let text = texts.withLock({ $0[shape] }) { return text }
    let text = sql
    let key = Shape(segments: segments.map(\.withoutValue))
    texts.withLock { texts in
      if texts.count >= capacity { texts.removeAll() }
      texts[key] = text
    }
    return text
  }
}

extension SQLFragment.Segment {
  /// The segment without the value that the table would keep alive.
  fileprivate var withoutValue: Self {
    switch self {
    case .binding: .binding(.value(.null))
    case .row(let bindings): .row(bindings.map { _ in .value(.null) })
    default: self
    }
  }
}
