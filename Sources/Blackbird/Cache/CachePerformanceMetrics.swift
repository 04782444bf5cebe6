extension Blackbird {
  /// How a table's cache has served.
  public struct CachePerformanceMetrics: Sendable, Hashable {
    /// Questions answered from memory.
    public var hits = 0
    /// Questions that had to be read.
    public var misses = 0
    /// Rows and results put into memory.
    public var writes = 0
    /// Rows dropped because a commit changed them.
    public var rowInvalidations = 0
    /// Results dropped because a commit changed their table.
    public var queryInvalidations = 0
    /// How often everything of the table was dropped.
    public var tableInvalidations = 0
    /// Rows and results dropped to make room.
    public var evictions = 0

    /// Creates metrics of a cache that was never asked.
    public init() {}
  }
}

extension Blackbird.Database {
  /// Returns how the cache of each model's table has served, for tables that were asked for.
  public func cachePerformanceMetricsByTableName() -> [String: Blackbird.CachePerformanceMetrics] {
    modelCache.metrics
  }

  /// Sets a table's metrics back to zero.
  public func resetCachePerformanceMetrics(tableName: String) {
    modelCache.resetMetrics(tableName)
  }

  /// Drops what is remembered of a table, or of all, to give memory back.
  public func flushCache(tableName: String? = nil) { modelCache.flush(tableName) }
}
