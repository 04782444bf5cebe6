package import BoutiqueDB
import FaultPoints
package import StressFaults
package import StressReport

/// A run's plan, and where its files are.
package struct RunContext: Sendable {
  package let plan: RunPlan
  /// The run's directory; a workload may make files of its own in it.
  package let directory: String
  /// `boutique-stress`, which plays the workers too.
  package let program: String
  /// The faults as they happened; known when the work is over, for checks.
  package var faults: [FaultRecord] = []

  /// Describes a run.
  package init(plan: RunPlan, directory: String, program: String) {
    self.plan = plan
    self.directory = directory
    self.program = program
  }

  package var database: String { directory + "/data/app.db" }
  var control: String { directory + "/control" }
  var historyDirectory: String { directory + "/history" }
  var planFile: String { directory + "/plan.json" }

  func historyFile(start: Int) -> String { historyDirectory + "/\(start).jsonl" }

  /// How the run's processes open the database, unless their workload has its own wishes.
  package func configuration(label: String) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.label = label
    configuration.synchronous = .init(rawValue: plan.synchronous) ?? .normal
    // A loaded machine is no fault.
    configuration.writeLockTimeout = .seconds(60)
    configuration.migrationTimeout = .seconds(60)
    if plan.sabotage == Sabotage.noPoll.rawValue { configuration.cdcPollInterval = .seconds(3600) }
    return configuration
  }
}
