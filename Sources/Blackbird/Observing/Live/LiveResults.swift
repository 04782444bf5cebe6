extension Blackbird {
  /// What a live query shows at a moment.
  public struct LiveResults<Element: Sendable>: Sendable {
    /// The results as of the last read that succeeded; empty before the first.
    public var results: [Element] = []
    /// Whether a read has succeeded.
    public var didLoad = false
    /// What the last read failed with; nil when it succeeded.
    ///
    /// It is no end: the next change is read again. Only a database that was closed or replaced is one.
    public var error: (any Swift.Error)?

    /// Creates results, for a preview or a test.
    public init(
      results: [Element] = [], didLoad: Bool = false, error: (any Swift.Error)? = nil
    ) {
      self.results = results
      self.didLoad = didLoad
      self.error = error
    }
  }
}

extension Blackbird.LiveResults {
  init(_ snapshot: LiveObserver<[Element]>.Snapshot, hasDatabase: Bool) {
    self.init(
      results: snapshot.value ?? [], didLoad: snapshot.didLoad,
      error: snapshot.error ?? (hasDatabase ? nil : BlackbirdLiveError.noDatabase))
  }
}

/// What `$` gives of a live query: its state, and a way to wait for it.
public struct BlackbirdLiveQueryState<Element: Sendable>: Sendable {
  let observer: LiveObserver<[Element]>

  /// What the query shows now.
  public var value: Blackbird.LiveResults<Element> {
    Blackbird.LiveResults(observer.snapshot, hasDatabase: observer.database != nil)
  }

  /// Whether a read is under way.
  public var isLoading: Bool { observer.isLoading }

  /// Waits until the results are at least as new as everything committed before the call, by any process.
  ///
  /// - Throws: what the read throws; ``BlackbirdLiveError``.
  public func refresh() async throws { try await observer.refresh() }

  /// Reads from another database from now on.
  public func bind(to database: Blackbird.Database?) { observer.bind(to: database) }
}
