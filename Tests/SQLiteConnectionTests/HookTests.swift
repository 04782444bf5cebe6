import SQLiteConnection
import Testing

@Suite struct HookTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Counts to a number that takes longer than any test.
  static let endless = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
    """

  @Test func `without a busy handler a held lock is an error at once`() throws {
    let holder = try directory.open()
    let waiter = try directory.open()
    try ImmediateTransaction.begin(on: holder)
    let error = sqliteError { try ImmediateTransaction.begin(on: waiter) }
    #expect(error?.code == .busy)
    #expect(!waiter.isInTransaction)
  }

  @Test func `the busy handler decides how often to try again`() throws {
    let holder = try directory.open()
    let waiter = try directory.open()
    try ImmediateTransaction.begin(on: holder)
    var attempts: [Int] = []
    waiter.setBusyHandler { attempt in
      attempts.append(attempt)
      return attempt < 3
    }
    #expect(sqliteError { try ImmediateTransaction.begin(on: waiter) }?.code == .busy)
    #expect(attempts == [0, 1, 2, 3])
    attempts = []
    waiter.setBusyHandler { attempt in
      attempts.append(attempt)
      if attempt == 2 { ImmediateTransaction.rollback(on: holder) }
      return true
    }
    try ImmediateTransaction.begin(on: waiter)
    #expect(attempts == [0, 1, 2])
    ImmediateTransaction.rollback(on: waiter)
    waiter.setBusyHandler(nil)
    try ImmediateTransaction.begin(on: holder)
    #expect(sqliteError { try ImmediateTransaction.begin(on: waiter) }?.code == .busy)
    #expect(attempts == [0, 1, 2])
  }

  @Test func `the progress handler interrupts`() throws {
    let connection = try directory.open()
    var calls = 0
    connection.setProgressHandler(everyOpcodes: 1000) {
      calls += 1
      return calls == 5
    }
    let error = sqliteError { try connection.execute(Self.endless) }
    #expect(error?.code == .interrupt)
    #expect(calls == 5)
    connection.setProgressHandler(everyOpcodes: 1000, nil)
    #expect(try connection.queryInt64("SELECT 1") == 1)
  }

  @Test func `another thread interrupts what is running`() throws {
    let path = directory.file()
    let handle = Shared<Interruption?>(nil)
    let isRunning = Shared(false)
    let code = Shared<ResultCode?>(nil)
    let thread = Background {
      do {
        var options = ConnectionOptions()
        options.access = .readWriteCreate
        let connection = try Connection(path: path, options: options)
        handle.update { $0 = connection.interruption }
        connection.setProgressHandler(everyOpcodes: 1000) {
          isRunning.update { $0 = true }
          return false
        }
        try connection.execute(Self.endless)
      } catch {
        code.update { $0 = (error as? SQLiteError)?.code }
      }
    }
    // An interruption before the statement runs is lost, so it is repeated until one has worked.
    while !isRunning.get() {}
    handle.get()?.interrupt()
    #expect(thread.join())
    #expect(code.get() == .interrupt)
    #expect(handle.get()?.interrupt() == false)
  }

  @Test func `an interruption while nothing runs is forgotten`() throws {
    let connection = try directory.open()
    #expect(connection.interruption.interrupt())
    #expect(try connection.queryInt64("SELECT 1") == 1)
  }

  @Test func `interruptions and closing may race`() throws {
    for _ in 0..<50 {
      let connection = try directory.open()
      let interruption = connection.interruption
      let stop = Shared(false)
      let thread = Background { while !stop.get() { interruption.interrupt() } }
      connection.close()
      stop.update { $0 = true }
      #expect(thread.join())
    }
  }

  @Test func `the observer of the log is told the frames of each commit`() throws {
    let connection = try directory.open()
    try connection.script("CREATE TABLE t (a)")
    var frames: [Int] = []
    connection.setWriteAheadLogObserver { frames.append($0) }
    try connection.execute("INSERT INTO t VALUES (1)")
    try connection.execute("INSERT INTO t VALUES (2)")
    #expect(frames.count == 2)
    #expect(frames.last == connection.walIndexHeader().map { Int($0.maxFrame) })
    connection.setWriteAheadLogObserver(nil)
    try connection.execute("INSERT INTO t VALUES (3)")
    #expect(frames.count == 2)
  }

  @Test func `a closure that SQLite can no longer call is released`() throws {
    final class Token {}
    let connection = try directory.open()
    weak var weakToken: Token?
    do {
      let token = Token()
      weakToken = token
      connection.setBusyHandler { _ in
        _ = token
        return false
      }
      connection.setProgressHandler(everyOpcodes: 1) {
        _ = token
        return false
      }
      connection.setWriteAheadLogObserver { _ in _ = token }
    }
    #expect(weakToken != nil)
    connection.setBusyHandler(nil)
    connection.setProgressHandler(everyOpcodes: 1, nil)
    connection.setWriteAheadLogObserver(nil)
    #expect(weakToken == nil)
  }
}
