import BoutiqueDB

/// A question of which the answer may be remembered.
struct CacheRequest: Sendable {
  var table: String
  var name: CacheEntries.Name
  var limit: Int

  /// The weight of an answer that holds one model, or a number.
  @Sendable static func one(_ answer: some Sendable) -> Int { 1 }

  /// The row of a model with a key.
  static func row<T: BlackbirdModel>(of model: T.Type, key: [SQLValue]) -> CacheRequest {
    CacheRequest(
      table: T.tableName,
      name: .init(model: ObjectIdentifier(model), question: .row(RowKeyValues.normal(key))),
      limit: T.cacheLimit)
  }
}

extension ModelSelect {
  /// The question; nil where the answer depends on more than the rows of the model's table.
  var cacheRequest: CacheRequest? {
    guard isRepeatable, named == nil else { return nil }
    return CacheRequest(
      table: T.tableName,
      name: .init(model: ObjectIdentifier(T.self), question: .query(.text(sql), values)),
      limit: T.cacheLimit)
  }
}

extension BlackbirdModel {
  /// Returns the question to remember, made only for a model that has a cache.
  static func cacheRequest(_ make: @autoclosure () -> CacheRequest?) -> CacheRequest? {
    cacheLimit > 0 ? make() : nil
  }
}

extension Blackbird.Database {
  /// Answers a question from memory, or runs a closure on a reader as ``read(_:_:)`` does.
  ///
  /// - Parameters:
  ///   - request: nil for a question that is not to be remembered.
  ///   - weight: how many models an answer holds.
  func read<R: Sendable>(
    _ table: ModelTable, _ request: CacheRequest?, weight: @escaping @Sendable (R) -> Int,
    _ body: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    guard let request else { return try await read(table, body) }
    try await waitArtificially()
    if let known: R = try await modelCache.proven(request, in: self) { return known }
    return try await retrying(table) {
      try await self.modelCache.value(for: request, in: self, weight: weight) { core in
        try core.requireKnown(table)
        return try body(core)
      }
    }
  }

  /// Runs a closure in a transaction as ``write(_:_:)`` does, and remembers the row that it leaves.
  ///
  /// - Parameter body: returns the result, and the row's key.
  func writeRemembering<T: BlackbirdModel, R: Sendable>(
    _ table: ModelTable, _ model: T.Type,
    _ body: @escaping @Sendable (_ core: isolated Core) throws -> (R, key: [SQLValue])
  ) async throws -> R {
    try await waitArtificially()
    try await prepare(table)
    let engine = try await engine()
    try await Error.translating { try await modelCache.begin(on: engine) }
    let ((result, key, row), token) = try await writeWithToken { core in
      let (result, key) = try body(core)
      // As it is stored now: triggers and column types may have had their say.
      return (result, key, try core.instance(T.self, key: key))
    }
    if let row { modelCache.noteWritten(row, key: RowKeyValues.normal(key), at: token) }
    return result
  }
}
