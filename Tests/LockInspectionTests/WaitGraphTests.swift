import LockInspection
import SharedFileCoordination
import Testing

/// The graph of waits, from the model alone.
@Suite struct WaitGraphTests {
  private static func process(_ pid: Int32) -> ProcessReference {
    ProcessReference(pid: pid, label: "p\(pid)", state: .sleeping)
  }

  private static func graph(_ edges: [(Int32, Int32)]) -> WaitGraph {
    WaitGraph(
      waits: edges.map { Wait(waiter: process($0.0), blocker: process($0.1), resource: "a lock") })
  }

  @Test func `a chain has one root and no ring`() {
    let graph = Self.graph([(2, 1), (3, 2), (4, 2)])
    #expect(graph.cycles.isEmpty)
    #expect(graph.roots.map(\.pid) == [1])
    #expect(graph.waiters(of: Self.process(2)).map(\.waiter.pid) == [3, 4])
  }

  @Test func `a ring is found once, from its lowest pid`() {
    let graph = Self.graph([(5, 7), (7, 3), (3, 5), (9, 7)])
    #expect(graph.cycles.map { $0.map(\.pid) } == [[3, 5, 7]])
    #expect(graph.roots.isEmpty)
  }

  @Test func `two rings through one process are two`() {
    let graph = Self.graph([(1, 2), (2, 1), (1, 3), (3, 1)])
    #expect(graph.cycles.map { $0.map(\.pid) } == [[1, 2], [1, 3]])
  }

  @Test func `the same number in another pid namespace is another process`() {
    var elsewhere = Self.process(1)
    elsewhere.pidNamespace = .other
    let graph = WaitGraph(waits: [
      Wait(waiter: Self.process(1), blocker: elsewhere, resource: "a lock")
    ])
    #expect(graph.cycles.isEmpty)
    #expect(graph.roots == [elsewhere])
  }

  @Test func `waits across two databases make a ring`() {
    var first = DatabaseInspection(
      path: "/a.db", lockFile: LockFileFacts(path: "/a.db-lock", condition: .good))
    first.writeLease = LeaseFacts(holder: Self.process(1))
    first.queue = [QueueEntry(place: 1, process: Self.process(2), waitingForSeconds: 1)]
    var second = DatabaseInspection(
      path: "/b.db", lockFile: LockFileFacts(path: "/b.db-lock", condition: .good))
    second.writeLease = LeaseFacts(holder: Self.process(2))
    second.queue = [QueueEntry(place: 1, process: Self.process(1), waitingForSeconds: 1)]
    let graph = WaitGraph(databases: [first, second], view: nil)
    #expect(graph.cycles.map { $0.map(\.pid) } == [[1, 2]])
  }

  @Test func `the holder that itself writes waits for nobody`() {
    var database = DatabaseInspection(
      path: "/a.db", lockFile: LockFileFacts(path: "/a.db-lock", condition: .good))
    database.writeLease = LeaseFacts(holder: Self.process(1))
    database.sqliteLocks = [
      SQLiteLockFacts(name: .write, isExclusive: true, process: Self.process(1))
    ]
    #expect(WaitGraph(databases: [database], view: nil).waits.isEmpty)
    database.sqliteLocks[0].process = Self.process(8)
    #expect(WaitGraph(databases: [database], view: nil).waits.map(\.blocker.pid) == [8])
  }
}
