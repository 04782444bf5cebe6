package import StressFaults
package import StressHistory

/// A kind of work whose result can be checked.
///
/// The leading process calls ``prepare(_:)`` once, then each worker process ``work(_:)``, and when all have
/// ended the leading process ``check(_:_:)``. A workload keeps nothing in itself: what processes share is in
/// the database and in the history.
package protocol Workload: Sendable {
  /// The name on the command line.
  static var name: String { get }
  /// What it does and what must hold, in a sentence.
  static var summary: String { get }
  /// The kinds of faults under which everything it checks must still hold.
  static var faults: [FaultKind] { get }
  /// How many processes it has unless somebody says otherwise.
  static var usualProcesses: Int { get }

  init()

  /// Makes the database and its schema.
  func prepare(_ run: RunContext) async throws

  /// Works until ``WorkerContext/shouldEnd``.
  ///
  /// What it throws is a violation: faults that it expects are handled inside.
  func work(_ worker: WorkerContext) async throws

  /// Looks at the database and at the history, with all processes ended and all faults over.
  func check(_ run: RunContext, _ history: History) async throws -> [Violation]
}

extension Workload {
  package static var usualProcesses: Int { 4 }
}

/// All workloads.
package enum Workloads {
  /// In the order of `list`.
  package static let all: [any Workload.Type] = [
    BankWorkload.self,
    CountersWorkload.self,
    ListAppendWorkload.self,
    RegistrationWorkload.self,
    QueueWorkload.self,
    WideRowsWorkload.self,
    ConvergenceWorkload.self,
    LiveWorkload.self,
    FeedMirrorWorkload.self,
    MigrationsWorkload.self,
    StoresWorkload.self,
    SecretsWorkload.self,
    SchemaChangesWorkload.self,
    LongReadersWorkload.self,
    ForeignWritersWorkload.self,
    ScriptsWorkload.self,
    DurabilityWorkload.self,
    CrowdWorkload.self,
  ]

  /// The workload of that name.
  package static func named(_ name: String) -> (any Workload.Type)? {
    all.first { $0.name == name }
  }
}
