import BoutiqueDB
import Foundation
import Observation
import StructuredQueries
import TestDatabase
import Testing

/// The page "Live Queries": its blocks, with models where the page has views.
@Suite struct LiveQueries {
  @BoutiqueTable
  struct TaskItem: Sendable, Equatable {
    let id: UUID
    var title: String
    var isCompleted: Bool = false
    var dueDate: Date
  }

  @BoutiqueTable
  struct UserProfile: Sendable, Equatable {
    let id: UUID
    var name: String
    var email: String
  }

  @MainActor @Observable
  final class UncompletedTasks {
    let db: BoutiqueDB

    @ObservationIgnored
    @LiveQuery var tasks: [TaskItem]

    init(db: BoutiqueDB) {
      self.db = db
      self._tasks = LiveQuery(db) {
        TaskItem.where { $0.isCompleted.eq(false) }
          .order { $0.dueDate.asc() }
          .asSelect()
      }
    }
  }

  @MainActor @Observable
  final class UserProfileModel {
    let db: BoutiqueDB
    let userId: UUID

    @ObservationIgnored
    @LiveQueryOne var profile: UserProfile?

    init(db: BoutiqueDB, userId: UUID) {
      self.db = db
      self.userId = userId
      self._profile = LiveQueryOne(db) {
        UserProfile.where { $0.id.eq(userId) }.asSelect()
      }
    }
  }

  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") { conn in
      try TaskItem.createTable().execute(conn)
      try UserProfile.createTable().execute(conn)
    }
  }

  /// The poll every hour: what arrives here has come without it.
  static var configuration: BoutiqueConfiguration {
    var config = BoutiqueConfiguration()
    config.cdcPollInterval = .seconds(3600)
    return config
  }

  @MainActor @Test func `a list without the completed ones`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      let view = UncompletedTasks(db: db)
      try await view.$tasks.refresh()
      #expect(view.tasks.isEmpty)
      let later = TaskItem(id: UUID(), title: "later", dueDate: Date(timeIntervalSince1970: 2))
      let sooner = TaskItem(id: UUID(), title: "sooner", dueDate: Date(timeIntervalSince1970: 1))
      try await db.write { conn in try TaskItem.insert { [later, sooner] }.execute(conn) }
      try await view.$tasks.refresh()
      #expect(view.tasks == [sooner, later])
      try await db.write { conn in
        try TaskItem.find(sooner.id).update { $0.isCompleted = true }.execute(conn)
      }
      try await view.$tasks.refresh()
      #expect(view.tasks == [later])
    }
  }

  @MainActor @Test func `one row, nil until there is one`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      let id = UUID()
      let view = UserProfileModel(db: db, userId: id)
      try await view.$profile.refresh()
      #expect(view.profile == nil)
      let profile = UserProfile(id: id, name: "Ann", email: "ann@example.org")
      try await db.write { conn in try UserProfile.insert { profile }.execute(conn) }
      try await view.$profile.refresh()
      #expect(view.profile == profile)
    }
  }

  @Test func `the refresh interval`() async throws {
    let directory = try TestDirectory()
    let storeURL = directory.url("store.db")

    var config = BoutiqueConfiguration()
    config.cdcPollInterval = .milliseconds(100)  // Fast 100ms refresh

    let db = try await BoutiqueDB.open(
      url: storeURL,
      configuration: config
    )
    await db.close()
  }
}
