import BoutiqueDB

/// What the board shows: a job that other processes make, move on and end.
@BoutiqueTable
struct Job: Equatable {
  let id: Int
  var name: String
  var state: JobState = .waiting
  var progress: Int = 0
}

enum JobState: String, QueryBindable, CaseIterable {
  case running
  case waiting
  case failed
  case done
}

extension BoutiqueMigrationPlan {
  static let jobs = BoutiqueMigrationPlan {
    BoutiqueMigration("jobs") { conn in try Job.createTable(ifNotExists: true).execute(conn) }
  }
}
