public import Observation

/// A property that always holds the rows of a query.
///
/// ```swift
/// @MainActor @Observable final class NotesModel {
///   @ObservationIgnored
///   @LiveQuery(db, { conn in try conn.query("SELECT * FROM note") }) var notes: [Row] = []
/// }
/// ```
///
/// The value is the initial one until the first fetch (`$notes.isLoaded`), and then follows every commit
/// of any process that touches what the query reads. Reading the property is tracked by Observation.
/// When a fetch fails, the last value stays and `$notes.error` says why.
@MainActor @propertyWrapper
public struct LiveQuery<Element: Sendable> {
  /// The query's state: whether it is loaded, its last error, its values as a sequence.
  public let projectedValue: LiveValue<[Element]>

  /// The rows as of the last fetch.
  public var wrappedValue: [Element] { projectedValue.value }

  /// Creates a live query whose elements cannot be compared.
  public init(
    wrappedValue: [Element] = [], _ db: BoutiqueDB,
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> [Element]
  ) {
    projectedValue = LiveValue(wrappedValue, db.observe(fetch))
  }

  /// Creates a live query; a result equal to the last one changes nothing.
  public init(
    wrappedValue: [Element] = [], _ db: BoutiqueDB,
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> [Element]
  ) where Element: Equatable {
    projectedValue = LiveValue(wrappedValue, db.observe(fetch))
  }
}

/// A property that always holds the one value of a query, or nil when there is none.
@MainActor @propertyWrapper
public struct LiveQueryOne<Value: Sendable> {
  /// The query's state: whether it is loaded, its last error, its values as a sequence.
  public let projectedValue: LiveValue<Value?>

  /// The value as of the last fetch.
  public var wrappedValue: Value? { projectedValue.value }

  /// Creates a live query whose value cannot be compared.
  public init(
    wrappedValue: Value? = nil, _ db: BoutiqueDB,
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value?
  ) {
    projectedValue = LiveValue(wrappedValue, db.observe(fetch))
  }

  /// Creates a live query; a result equal to the last one changes nothing.
  public init(
    wrappedValue: Value? = nil, _ db: BoutiqueDB,
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value?
  ) where Value: Equatable {
    projectedValue = LiveValue(wrappedValue, db.observe(fetch))
  }
}

/// The value behind ``LiveQuery`` and ``LiveQueryOne``, observable by Observation.
@MainActor @Observable
public final class LiveValue<Value: Sendable> {
  /// The value as of the last fetch.
  public private(set) var value: Value
  /// Whether a fetch has succeeded.
  public private(set) var isLoaded = false
  /// What the last fetch failed with; nil when it succeeded.
  public private(set) var error: (any Error)?

  @ObservationIgnored private let observation: QueryObservation<Value>
  @ObservationIgnored private let runner: LiveQueryRunner<Value>
  @ObservationIgnored private var task: Task<Void, Never>?
  @ObservationIgnored private var refreshing:
    [(run: Int, continuation: CheckedContinuation<Void, any Error>)] = []
  @ObservationIgnored private var end: (any Error)?

  init(_ initial: Value, _ observation: QueryObservation<Value>) {
    value = initial
    self.observation = observation
    let runner = observation.makeAsyncIterator().runner
    self.runner = runner
    // The task must not keep the value alive: dropping the value ends the observation.
    task = Task { @MainActor [weak self] in
      while !Task.isCancelled {
        do {
          guard let delivery = try await runner.next(isolation: MainActor.shared) else { return }
          guard let self else { return }
          apply(delivery)
        } catch {
          guard let self, fail(error) else { return }
        }
      }
    }
  }

  isolated deinit {
    task?.cancel()
    for waiting in refreshing { waiting.continuation.resume(throwing: CancellationError()) }
  }

  /// The values over time, as a sequence of its own.
  public nonisolated var values: QueryObservation<Value> { observation }

  /// Waits until the value is at least as new as everything committed before the call.
  ///
  /// - Throws: what the query throws.
  public func refresh() async throws {
    if let end { throw end }
    let run = runner.requestRun()
    try await withCheckedThrowingContinuation { refreshing.append((run, $0)) }
  }

  private func apply(_ delivery: Delivery<Value>) {
    value = delivery.value
    if !isLoaded { isLoaded = true }
    if error != nil { error = nil }
    let done = refreshing.filter { $0.run <= delivery.run }
    refreshing.removeAll { $0.run <= delivery.run }
    for waiting in done { waiting.continuation.resume() }
  }

  /// Keeps the last value and says why there is no newer one.
  ///
  /// - Returns: whether the observation goes on.
  private func fail(_ error: any Error) -> Bool {
    self.error = error
    switch error {
    case BoutiqueError.closed, BoutiqueError.fileReplaced, BoutiqueError.usedAcrossFork: end = error
    default: break
    }
    let waiting = refreshing
    refreshing = []
    for waiting in waiting { waiting.continuation.resume(throwing: error) }
    return end == nil
  }
}
