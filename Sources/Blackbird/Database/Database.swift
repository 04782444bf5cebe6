import BoutiqueDB
import Synchronization

extension Blackbird {
  /// A SQLite database that processes share.
  public final class Database: Sendable {
    /// The path of the file; nil for a database in memory.
    public let path: String?
    private let opening: Task<BoutiqueDB, any Error>
    /// What is known about the models that were used with it.
    let models = ModelRegistry()

    /// Begins to open the database at a path; it is made when it is missing.
    public init(path: String) throws {
      self.path = path
      opening = Task { try await BoutiqueDB.open(path: path) }
    }

    private init() {
      path = nil
      opening = Task { try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL()) }
    }

    /// Returns a new database in memory.
    public static func inMemoryDatabase() throws -> Database { Database() }

    /// The open database underneath; waits until it is open.
    func engine() async throws -> BoutiqueDB { try await opening.value }

    /// Runs a closure in one transaction.
    @discardableResult
    public func transaction<R: Sendable>(
      _ action: @escaping @Sendable (isolated Core) throws -> R
    ) async throws -> R {
      try await engine().write { try Core.run(on: $0, of: self, action) }
    }

    /// Closes the database.
    public func close() async { await (try? engine())?.close() }
  }
}
