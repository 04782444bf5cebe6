import StressHistory
import Testing

@Suite struct CheckingAppendPropertyTests {
  /// What is wrong with one operation of a history that is right otherwise.
  enum Anomaly: CaseIterable {
    case lostAppend, staleRead, lostUpdate, readSkew, abortedRead, duplicate, reordered, future
    case partialCommit
  }

  /// A history of appends to a few lists, with at most one anomaly.
  struct Lists {
    var operations: [OperationRecord] = []
    var store: [String: [Int64]] = [:]
    var isPlanted = false
    private var simulation: Simulation
    private var value: Int64 = 0
    /// For each list, the acknowledged appends: when they ended, and how long the list was before.
    private var acknowledged: [String: [(ended: Int64, before: Int)]] = [:]

    init(seed: UInt64, count: Int, planting anomaly: Anomaly? = nil) {
      simulation = Simulation(seed: seed)
      let earliest = count / 3
      for index in 0..<count {
        add(plant: !isPlanted && index > earliest ? anomaly : nil)
      }
    }

    private mutating func add(plant anomaly: Anomaly?) {
      let turn = simulation.next("append")
      var record = turn.record
      var isApplied = turn.isApplied
      var mine = store
      var asked: [Step] = []
      var told: [Step] = []
      var keys: [String] = []
      let isReadOnly = simulation.random.chance(25)
      for _ in 0..<simulation.random.int(1...4) {
        let key = "k\(simulation.random.int(0...4))"
        if isReadOnly || simulation.random.chance(50) {
          asked.append(Step(.read, key))
          told.append(Step(.read, key, .list(mine[key] ?? [])))
        } else {
          value += 1
          asked.append(Step(.append, key, .integer(value)))
          told.append(Step(.append, key, .integer(value)))
          mine[key, default: []].append(value)
          keys.append(key)
        }
      }
      switch anomaly {
      case .lostAppend? where record.outcome == .done && !keys.isEmpty:
        isApplied = false
        isPlanted = true
      case .abortedRead? where record.outcome == .refused && !keys.isEmpty:
        isApplied = true
        isPlanted = true
      case .duplicate? where isApplied && !keys.isEmpty:
        mine[keys[0], default: []].append(mine[keys[0]]?.last ?? 0)
        isPlanted = true
      case .partialCommit?
      where record.outcome != .refused && Set(keys).count > 1 && isApplied:
        mine[keys[0]] = store[keys[0]]
        isPlanted = true
      case .reordered? where record.outcome == .done && isApplied && keys.count == 1:
        // Put before something that had been acknowledged when this began.
        if let key = keys.first, let place = before(key, record.began),
          place < mine[key]?.count ?? 0
        {
          mine[key]?.removeLast()
          mine[key]?.insert(value, at: place)
          isPlanted = true
        }
      case .staleRead? where record.outcome == .done && keys.isEmpty:
        if let key = told.first?.key, let place = before(key, record.began) {
          for index in told.indices where told[index].key == key {
            told[index].value = .list(Array((store[key] ?? []).prefix(place)))
          }
          isPlanted = true
        }
      case .lostUpdate? where record.outcome == .done && isApplied:
        // Read before the last append of another, written after it.
        if let key = keys.first, let place = acknowledged[key]?.last?.before,
          told.first(where: { $0.key == key })?.kind == .read
        {
          let index = told.firstIndex { $0.key == key && $0.kind == .read } ?? 0
          told[index].value = .list(Array((store[key] ?? []).prefix(place)))
          isPlanted = true
        }
      case .readSkew? where record.outcome == .done && keys.isEmpty:
        // The value of one list from before an operation that also wrote another, which is read anew.
        if let skewed = skew() {
          told = skewed
          isPlanted = true
        }
      case .future? where record.outcome == .done && isApplied && !keys.isEmpty:
        if let ended = record.ended {
          let reader = OperationRecord(
            process: 9999, number: 1, name: "append",
            steps: [Step(.read, keys[0], .list(mine[keys[0]] ?? []))], began: record.began - 20,
            ended: record.began - 10, outcome: .done)
          operations.append(reader)
          isPlanted = ended > 0
        }
      default: break
      }
      record.steps = record.outcome == .done ? told : asked
      if isApplied {
        if record.outcome == .done, let ended = record.ended {
          for key in Set(keys) {
            acknowledged[key, default: []].append((ended, store[key]?.count ?? 0))
          }
        }
        store = mine
      }
      operations.append(record)
    }

    /// How long a list was before the last append that had been acknowledged at a time.
    private func before(_ key: String, _ time: Int64) -> Int? {
      acknowledged[key]?.last { $0.ended < time }?.before
    }

    /// Reads that show one append of the last operation with two, and not the other.
    private func skew() -> [Step]? {
      guard
        let last = operations.last(where: { operation in
          operation.outcome == .done
            && Set(operation.steps.filter { $0.kind == .append }.map(\.key)).count > 1
        })
      else { return nil }
      let keys = Set(last.steps.filter { $0.kind == .append }.map(\.key)).sorted()
      guard let whole = store[keys[1]], let list = store[keys[0]],
        let first = last.steps.first(where: { $0.kind == .append && $0.key == keys[0] }),
        case .integer(let value) = first.value, let place = list.firstIndex(of: value)
      else { return nil }
      return [
        Step(.read, keys[0], .list(Array(list.prefix(place)))), Step(.read, keys[1], .list(whole)),
      ]
    }
  }

  @Test(arguments: 0..<40)
  func `a serial store shows no violation`(seed: UInt64) {
    let lists = Lists(seed: seed, count: 300)
    let history = History(operations: lists.operations)
    #expect(AppendCheck.violations(history.operations, final: lists.store) == [])
    #expect(AppendCheck.violations(history.operations) == [])
  }

  @Test(arguments: Anomaly.allCases, 0..<15)
  func `one anomaly is always found`(anomaly: Anomaly, seed: UInt64) {
    let lists = Lists(seed: seed, count: 300, planting: anomaly)
    #expect(lists.isPlanted)
    let history = History(operations: lists.operations)
    #expect(!AppendCheck.violations(history.operations, final: lists.store).isEmpty)
  }
}
