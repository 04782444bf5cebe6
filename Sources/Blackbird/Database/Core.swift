import BoutiqueDB
import Dispatch
import Glibc
import Synchronization

// A core is what a transaction's closure gets. Upstream's users write functions that take
// `core: isolated Blackbird.Database.Core`, so it has to be an actor; and the closure has to run in one
// piece on the engine's thread, so the actor's executor is that thread.
//
// 1. A core belongs to one call of a closure. Its executor is the thread that runs the closure, while it
//    runs; `assumeIsolated` asks the executor, and the executor compares threads.
// 2. `current` is the connection while the closure runs, nil before and after. What escapes from the
//    closure finds nil and throws.
// 3. A job that is sent to a core from elsewhere (an escaped core used with `await`) runs on some other
//    thread, after or during the closure. It may not touch the connection: `connection()` looks whether it
//    is on the closure's thread.

extension Blackbird.Database {
  /// The inside of a transaction: what `transaction { core in … }` gives to its closure.
  ///
  /// Its calls are synchronous there. It is of use only inside the closure; afterwards every call throws.
  public actor Core {
    private let executor: CoreExecutor
    /// The database that the transaction is of.
    public nonisolated let database: Blackbird.Database
    /// What to forget when the transaction is rolled back.
    nonisolated let undo: TransactionUndo
    /// The models whose tables were looked at in this transaction.
    var checkedModels: Set<ObjectIdentifier> = []
    /// What is made once for the rows of a model.
    var uses: [ObjectIdentifier: ModelUse] = [:]
    /// The one of ``uses`` that was asked for last.
    var lastUse: ModelUse?
    /// The connection, while the closure runs.
    private var current: BoutiqueConnection?

    /// The executor: the thread that runs the closure.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }

    private init(
      database: Blackbird.Database, undo: TransactionUndo, executor: CoreExecutor
    ) {
      self.database = database
      self.undo = undo
      self.executor = executor
    }

    /// Runs `action` on the calling thread, which is the one of the connection's closure.
    static func run<R: Sendable>(
      on connection: BoutiqueConnection, of database: Blackbird.Database,
      undo: TransactionUndo? = nil,
      _ action: @Sendable (isolated Core) throws -> R
    ) throws -> R {
      let core = Core(
        database: database, undo: undo ?? TransactionUndo(database: database.id),
        executor: CoreExecutor())
      // Safe, since it stays on this thread: the core's executor is the thread while the closure runs.
      nonisolated(unsafe) let connection = connection
      return try core.executor.asIfInside {
        try core.assumeIsolated { core in
          core.current = connection
          defer {
            core.current = nil
            core.endUses()
          }
          return try action(core)
        }
      }
    }

    /// Throws where a call names another database than this transaction is of: the caller would believe that
    /// it reads or writes that one.
    func require(_ other: Blackbird.Database) throws {
      guard other === database else {
        throw Error.databaseIsNotThatOfCore(path: other.path, corePath: database.path)
      }
    }

    /// The connection of the transaction.
    ///
    /// - Throws: when the transaction has ended, or another thread asks.
    func connection() throws -> BoutiqueConnection {
      guard let current, executor.isInside else {
        throw Error(.connectionEnded)
      }
      return current
    }
  }
}

/// Makes the thread that runs a transaction's closure the executor of its core.
final class CoreExecutor: SerialExecutor {
  /// The thread on which the core's closure runs.
  private let owner = Mutex<UInt?>(nil)

  func asIfInside<R>(_ body: () throws -> R) rethrows -> R {
    owner.withLock { $0 = Self.thread }
    defer { owner.withLock { $0 = nil } }
    return try body()
  }

  /// Runs what was sent to a core that has escaped from its closure; every call there throws.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() {
    precondition(isInside, "a core is used outside its transaction")
  }

  func isIsolatingCurrentContext() -> Bool? { isInside }

  var isInside: Bool { owner.withLock { $0 == Self.thread } }
  private static var thread: UInt { UInt(pthread_self()) }
}
