import Foundation
import SQLiteConnection

/// Opens every connection of a database, so that all of them are set up alike.
struct ConnectionFactory: Sendable {
  let path: String
  let configuration: BoutiqueConfiguration

  /// Opens the connection that writes.
  func openWriter() throws -> (Connection, BusyWait) {
    try open { options in
      options.access = path == ":memory:" ? .readWriteCreate : .readWrite
    }
  }

  /// Opens a connection that reads. SQLite refuses its writes twice over.
  func openReader() throws -> Connection {
    try open { options in
      options.access = .readOnly
      options.queryOnly = true
    }.0
  }

  private func open(_ adjust: (inout ConnectionOptions) -> Void) throws -> (Connection, BusyWait) {
    var options = ConnectionOptions()
    options.foreignKeys = configuration.foreignKeys
    adjust(&options)
    let connection = try Connection(path: path, options: options)
    do {
      let busy = BusyWait(limit: configuration.writeLockTimeout)
      connection.setBusyHandler(busy.handler)
      if options.access != .readOnly {
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
      for collation in configuration.collations {
        try connection.register(
          collation: CustomCollation(name: collation.name, compare: collation.compare))
      }
      return (connection, busy)
    } catch {
      connection.close()
      throw error
    }
  }
}

/// SQLite's busy handler: short constant sleeps with jitter until a deadline by the clock.
///
/// Growing sleeps starve whoever has waited longest, and a count of attempts is not a time. Our own
/// processes meet at the lease; this is for programs that do not know it.
final class BusyWait {
  /// How long the next wait lasts at most.
  var limit: Duration
  private var deadline = MonotonicTime.now()

  init(limit: Duration) { self.limit = limit }

  /// Called by SQLite on the connection's thread only.
  var handler: (Int) -> Bool {
    { attempts in
      if attempts == 0 { self.deadline = .now().advanced(by: self.limit) }
      guard MonotonicTime.now() < self.deadline else { return false }
      // Below SQLite's own shortest step, so that a short hold is passed on quickly.
      usleep(attempts < 20 ? UInt32.random(in: 50...150) : UInt32.random(in: 500...1500))
      return true
    }
  }
}
