import StressHistory

/// Clients of a store that does one operation at a time: histories in which everything is as it must be.
///
/// Each operation takes effect at a moment between its beginning and its end. Some are refused and have no
/// effect; some end in the open, or their process dies, and they have it or not.
struct Simulation {
  /// An operation before anything is done.
  struct Turn {
    var record: OperationRecord
    /// Whether the store does it.
    let isApplied: Bool
    /// The place of its process, which outlives it.
    let place: Int
    /// Whether its process died at the last turn of the place.
    let isNewProcess: Bool
  }

  var random: SeededRandom
  private struct Client {
    var process: Int
    var free: Int64 = 0
    var isNew = false
  }
  private var clients: [Client]
  private var processes: Int
  private var time: Int64 = 1000
  private var number = 0
  let trouble: Int

  /// Simulates `places` processes of one client each.
  ///
  /// - Parameter trouble: how many of a hundred operations are refused, end in the open, or die; of each.
  init(seed: UInt64, places: Int = 5, trouble: Int = 4) {
    random = SeededRandom(seed: seed, purpose: "simulation")
    clients = (0..<places).map { Client(process: $0) }
    processes = places
    self.trouble = trouble
  }

  /// The next operation, in the order in which they take effect.
  mutating func next(_ name: String) -> Turn {
    time += Int64(random.int(1...20))
    var place = random.int(0...clients.count - 1)
    while clients[place].free >= time {
      place = (place + 1) % clients.count
      time += 1
    }
    number += 1
    let began = max(clients[place].free + 1, time - Int64(random.int(0...60)))
    let ended = time + Int64(random.int(0...60))
    var record = OperationRecord(
      process: clients[place].process, number: number, name: name, steps: [], began: began,
      ended: ended, outcome: .done)
    let isNew = clients[place].isNew
    clients[place].isNew = false
    clients[place].free = ended
    var isApplied = true
    if random.chance(trouble) {
      record.outcome = .refused
      record.error = "no"
      isApplied = false
    } else if random.chance(trouble) {
      record.outcome = .unknown
      isApplied = random.chance(50)
    } else if random.chance(trouble) {
      record.outcome = .unknown
      record.ended = nil
      isApplied = random.chance(50)
      clients[place].process = processes
      processes += 1
      clients[place].isNew = true
    }
    return Turn(record: record, isApplied: isApplied, place: place, isNewProcess: isNew)
  }
}
