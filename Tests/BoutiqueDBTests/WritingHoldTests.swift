import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Leases that are held long are told of.
@Suite struct WritingHoldTests {
  private func configured(
    _ notes: Notes<BoutiqueEvent.LongHold>, warning: Duration = .milliseconds(50)
  ) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.label = "holder"
    configuration.longHoldWarning = warning
    configuration.eventHandler = { event in
      if case .longHold(let hold) = event { notes.add(hold) }
    }
    return configuration
  }

  @Test func `a long transaction tells of itself, again at twice the span`() async throws {
    let notes = Notes<BoutiqueEvent.LongHold>()
    try await withTestDatabase(
      configuration: configured(notes), migrations: WritingGroupTests.plan
    ) { db, _ in
      let busy = await BusyWriter(db)
      try await eventually { notes.all.count(where: \.isThisProcess) >= 3 }
      await busy.release()
      let told = notes.all.filter(\.isThisProcess)
      for (index, hold) in told.enumerated() {
        #expect(hold.path == db.path && hold.pid == getpid() && hold.label == "holder")
        #expect(!hold.isStopped && hold.purpose == "write")
        #expect(hold.heldFor >= .milliseconds(50) * (1 << index))
      }
    }
    // Nothing comes after the end, nor after the closing.
    let count = notes.all.count
    try await Task.sleep(for: .milliseconds(300))
    #expect(notes.all.count == count)
  }

  @Test func `many short writes are no long hold`() async throws {
    let notes = Notes<BoutiqueEvent.LongHold>()
    try await withTestDatabase(
      configuration: configured(notes, warning: .seconds(2)), migrations: WritingGroupTests.plan
    ) { db, _ in
      let clock = ContinuousClock()
      let end = clock.now + .seconds(5)
      var id = 0
      while clock.now < end {
        id += 1
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (NULL)") }
      }
      #expect(notes.all.isEmpty)
    }
  }

  @Test func `maintenance tells of itself by its name`() async throws {
    let notes = Notes<BoutiqueEvent.LongHold>()
    try await withTestDatabase(
      configuration: configured(notes, warning: .milliseconds(1)),
      migrations: WritingGroupTests.plan
    ) { db, _ in
      try await db.write { conn in
        try conn.execute(
          """
          INSERT INTO t WITH RECURSIVE n (i) AS
            (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT i, 'r' || i FROM n
          """)
      }
      try await eventually {
        try await db.vacuum()
        return notes.all.contains { $0.purpose == "vacuum" }
      }
    }
  }

  @Test func `a program without this library that holds SQLite's lock is told of`() async throws {
    let notes = Notes<BoutiqueEvent.LongHold>()
    try await withTestDatabase(
      configuration: configured(notes), migrations: WritingGroupTests.plan
    ) { db, _ in
      let foreign = try Connection(path: db.path)
      try foreign.execute("BEGIN IMMEDIATE")
      let write = Task {
        try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      }
      try await eventually { !notes.all.isEmpty }
      #expect(notes.all[0].isThisProcess == false)
      #expect(notes.all[0].pid == getpid())
      #expect(notes.all[0].label == nil)
      try foreign.execute("COMMIT")
      foreign.close()
      try await write.value
    }
  }

  @Test func `a second opening that waits tells who holds the lease`() async throws {
    let notes = Notes<BoutiqueEvent.LongHold>()
    try await withTestDatabase(migrations: WritingGroupTests.plan) { holder, _ in
      let waiter = try await BoutiqueDB.open(path: holder.path, configuration: configured(notes))
      let busy = await BusyWriter(holder)
      let write = Task { try await waiter.write { _ = try $0.query("SELECT 1") } }
      try await eventually { notes.all.count >= 2 }
      await busy.release()
      try await write.value
      for hold in notes.all {
        // The same process, but not the same open database.
        #expect(hold.pid == getpid() && !hold.isThisProcess && hold.purpose == "write")
      }
      await waiter.close()
    }
  }

  @Test func `closing waits for a handler that runs, and none runs later`() async throws {
    let isRunning = Signal()
    let goOn = DispatchSemaphore(value: 0)
    let calls = Notes<Bool>()
    var configuration = BoutiqueConfiguration()
    configuration.longHoldWarning = .milliseconds(20)
    configuration.eventHandler = { _ in
      isRunning.set()
      goOn.wait()
      calls.add(true)
    }
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(
      path: directory.file("a.db"), configuration: configuration, migrations: WritingGroupTests.plan
    )
    let busy = await BusyWriter(db)
    await isRunning.wait()
    await busy.release()
    let closing = Task {
      await db.close()
      return calls.all.count
    }
    goOn.signal()
    #expect(await closing.value == 1)
  }
}
