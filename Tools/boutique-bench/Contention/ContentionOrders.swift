/// Who does the writing in the contention benchmark, and how.
enum ContentionVariant: String, CaseIterable, Codable, Sendable {
  /// Plain SQLite, `BEGIN IMMEDIATE` with `busy_timeout`.
  case baseline
  /// The library, one task in each process that awaits each write before the next, no grouping.
  case single
  /// The library, many tasks in each process, no grouping.
  case many
  /// The library, many tasks in each process, with group commit as configured by default.
  case grouped
  /// The write lease around plain SQLite transactions, kept for its quantum; no capture, no tasks.
  case lease
  /// The same, each transaction with a row beside it like the one of the change log: the least that
  /// the library can cost while each write has a commit of its own.
  case logged
  /// The lease, handed over after each transaction.
  case handover

  /// What tables call it.
  var title: String {
    switch self {
    case .baseline: "busy_timeout"
    case .single: "library, one task"
    case .many: "library, tasks"
    case .grouped: "library, grouped"
    case .lease: "lease only"
    case .logged: "lease, log row"
    case .handover: "lease, each time"
    }
  }
}

/// What a worker of the contention benchmark does.
struct ContentionOrders: Codable, Sendable {
  var path: String
  var variant: ContentionVariant
  var index: Int
  /// How many one-row transactions it commits.
  var transactions: Int
  /// How many tasks have a write waiting.
  var tasks: Int
  var synchronous: SynchronousMode
}
