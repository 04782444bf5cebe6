import BoutiqueDB
import CommandLineSupport

/// What all commands that open a database have in common.
struct CommonSettings: Sendable {
  var timeout: Duration?
  var label: String?

  /// The options for these settings, inside the settings of any command.
  static func options<Settings>(
    _ access: @escaping @Sendable (inout Settings, (inout CommonSettings) -> Void) -> Void
  ) -> [CommandOption<Settings>] {
    [
      .value(
        "timeout", "SECONDS", help: "Wait at most this long for the write lock; 10 if not given."
      ) { (settings, text) throws(InvalidValue) in
        let timeout = try OptionValue.seconds(text)
        access(&settings) { $0.timeout = timeout }
      },
      .value("label", "TEXT", help: "The name under which other processes see this one.") {
        settings, text in access(&settings) { $0.label = text }
      },
    ]
  }
}

/// How a command means to use a database.
enum DatabaseUse {
  /// Reads and observes only; nothing is ever made or changed.
  case reading
  /// Writes to a database that exists.
  case writing
  /// Writes; makes the database when there is none.
  case creating
}

extension CommonSettings {
  /// Opens a database for a command.
  func open(
    _ path: String, for use: DatabaseUse, command: String, pollInterval: Duration? = nil
  ) async throws -> BoutiqueDB {
    if path.isEmpty { throw UsageError.other("the name of the database is empty") }
    var configuration = BoutiqueConfiguration()
    configuration.label = label ?? "\(Program.name) \(command)"
    if let timeout {
      configuration.writeLockTimeout = timeout
      // Opening, too, may have to wait for whoever prepares or migrates the file.
      configuration.migrationTimeout = timeout
    }
    if let pollInterval { configuration.cdcPollInterval = pollInterval }
    configuration.createIfMissing = use == .creating
    configuration.readOnly = use == .reading
    return try await BoutiqueDB.open(path: path, configuration: configuration)
  }

  /// Opens a database, does the work with it, and closes it whatever happens.
  func withDatabase<Result>(
    _ path: String, for use: DatabaseUse, command: String, pollInterval: Duration? = nil,
    _ body: (BoutiqueDB) async throws -> Result
  ) async throws -> Result {
    let database = try await open(path, for: use, command: command, pollInterval: pollInterval)
    do {
      let result = try await body(database)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }
}
