import BoutiqueDB
import Foundation
import ProcessHarness

/// A process of a scenario that uses the library: the program itself in another role.
package enum WorkerProgram {
  /// The first argument of the hidden role.
  package static let option = "--convergence-worker"

  /// In place of a process's name: makes the file and its schema, and ends.
  static let maker = "=maker"

  static func arguments(name: String, script: String, database: String) -> [String] {
    [option, name, script, database]
  }

  /// Plays the role that the arguments after ``option`` say; returns the exit status.
  package static func run(_ arguments: [String]) async -> Int32 {
    dieWithHarness()
    guard arguments.count == 3 else { return 2 }
    let channel = WorkerChannel()
    do {
      let scenario = try ScriptFile.read(arguments[1])
      if arguments[0] == maker {
        let db = try await BoutiqueDB.open(path: arguments[2])
        try await db.write { connection in
          for statement in scenario.schema { try connection.execute(statement.sql) }
        }
        await db.close()
        return 0
      }
      guard let plan = scenario.process(arguments[0]) else {
        channel.tell(Event(kind: .failed, text: "the script has no process \(arguments[0])"))
        return 2
      }
      try await LibraryProcess(
        scenario: scenario, opening: Opening(path: arguments[2], plan: plan), channel: channel
      ).run()
      return 0
    } catch {
      channel.tell(Event(kind: .failed, text: "\(error)"))
      return 1
    }
  }
}

/// How a process opens the database.
struct Opening: Sendable {
  let path: String
  let plan: ProcessPlan

  func open() async throws -> BoutiqueDB {
    try await BoutiqueDB.open(path: path, configuration: configuration)
  }

  private var configuration: BoutiqueConfiguration {
    let settings = plan.settings
    var configuration = BoutiqueConfiguration()
    configuration.label = plan.name
    configuration.cdcPollInterval = .milliseconds(settings.pollInterval)
    configuration.usesInotify = settings.usesInotify
    configuration.readerCount = settings.readerCount
    configuration.captureRowLimit = settings.captureRowLimit
    configuration.cdcRetention = .init(rows: settings.retention, age: .seconds(3600))
    configuration.groupCommitLimit = settings.groupCommitLimit
    configuration.foreignCapture = settings.isForeignCapturePrecise ? .precise : .coarse
    configuration.captureModes = settings.captureModes.compactMapValues(CaptureMode.init(rawValue:))
    configuration.synchronous = .init(rawValue: settings.synchronous) ?? .normal
    configuration.foreignKeys = settings.foreignKeys
    // A loaded machine is no fault.
    configuration.writeLockTimeout = .seconds(120)
    configuration.migrationTimeout = .seconds(120)
    return configuration
  }
}
