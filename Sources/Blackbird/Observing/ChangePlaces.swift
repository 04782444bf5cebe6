import BoutiqueDB

/// From which commit on those hear who have come together.
struct ChangePlaces: Sendable {
  /// When somebody came.
  enum Moment: Sendable {
    /// When this was the mark of the newest commit.
    case mark(CommitMark)
    /// When nobody but this process could write: in memory, or before the database was open.
    case alone
    /// Nobody can tell: the database is open for reading only, or somebody was committing.
    case unknown

    static func now(of database: Blackbird.Database) -> Moment {
      guard database.path != nil, let engine = database.openEngine else { return .alone }
      return engine.commitMark.map { .mark($0) } ?? .unknown
    }

    var mark: CommitMark? {
      if case .mark(let mark) = self { mark } else { nil }
    }
  }

  /// The newest commit when each came; nil where that is not known.
  let tokens: [Int: ChangeToken?]
  /// Where a feed has to begin for all of them; nil where nobody's place is known.
  let start: ChangeToken?

  init(_ tokens: [Int: ChangeToken?]) {
    self.tokens = tokens
    start = tokens.values.compactMap { $0 }.min { $0.number < $1.number }
  }

  /// Whether a feed from `start` gives everything after a place.
  func isReached(_ place: ChangeToken?, from start: ChangeToken) -> Bool {
    guard let place, place.generation == start.generation else { return false }
    // Of one number, foreign commits may lie between, and which is the earlier nobody says.
    return place.number > start.number || place.description == start.description
  }
}
