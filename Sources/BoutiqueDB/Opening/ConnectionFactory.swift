import SQLiteConnection

/// Opens every connection of a database, so that all of them are set up alike.
struct ConnectionFactory: Sendable {
  let path: String
  let configuration: BoutiqueConfiguration

  /// Opens the connection that writes.
  ///
  /// - Parameter wait: how long its statements may wait for others, until it is said otherwise.
  func openWriter(waiting wait: Duration) throws -> (Connection, StatementLimits) {
    try open(waiting: wait) { options in
      options.access = path == ":memory:" ? .readWriteCreate : .readWrite
    }
  }

  /// Opens a connection that reads.
  ///
  /// SQLite refuses its writes twice over.
  ///
  /// - Parameters:
  ///   - isUnchanging: whether nobody else can change the file meanwhile, so that it is read without its log.
  ///   - wait: how long its statements may wait for others; nil for as long as configured.
  func openReader(
    isUnchanging: Bool = false, waiting wait: Duration? = nil
  ) throws -> (Connection, StatementLimits) {
    let reader = try open(waiting: wait ?? configuration.writeLockTimeout) { options in
      options.access = isUnchanging ? .unchanging : .readOnly
      options.queryOnly = true
    }
    do {
      // Maps the WAL index. Until a connection has read once it cannot tell the change counter, and the
      // first reader of the change log would miss a foreign commit.
      _ = try reader.0.queryInt64("SELECT 1 FROM sqlite_schema LIMIT 1")
      return reader
    } catch {
      reader.0.close()
      throw error
    }
  }

  private func open(
    waiting wait: Duration, _ adjust: (inout ConnectionOptions) -> Void
  ) throws -> (Connection, StatementLimits) {
    var options = ConnectionOptions()
    options.foreignKeys = configuration.foreignKeys
    adjust(&options)
    let connection = try Connection(path: path, options: options)
    do {
      let limits = StatementLimits(wait: wait)
      limits.isWriting = { [unowned connection] in connection.hasBusyWritingStatement() }
      connection.setBusyHandler(limits.keepsWaiting)
      connection.setProgressHandler(everyOpcodes: StatementLimits.interval, limits.mustStop)
      if options.access != .readOnly, options.access != .unchanging {
        try connection.execute("PRAGMA synchronous = \(configuration.synchronous.rawValue)")
      }
      // Those of the configuration come last, and replace built-in ones of the same name.
      for function in BoutiqueFunction.builtIn + configuration.functions {
        try connection.register(
          function: CustomFunction(
            name: function.name, argumentCount: function.argumentCount,
            isDeterministic: function.isDeterministic
          ) { arguments in
            SQLiteValue(try function.body(arguments.map(SQLValue.init)))
          })
      }
      limits.schema.ownCollations = Set(configuration.collations.map { $0.name.uppercased() })
      for collation in configuration.collations {
        try connection.register(
          collation: CustomCollation(name: collation.name, compare: collation.compare))
      }
      return (connection, limits)
    } catch {
      connection.close()
      throw error
    }
  }
}
