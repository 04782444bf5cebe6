import BoutiqueDB

/// One state of the board: the numbers and the rows of one snapshot, so that they always agree.
struct Board: Equatable {
  var counts: [JobState: Int] = [:]
  var jobs: [Job] = []

  /// Reads the board; whatever this reads is what the board is drawn anew for.
  static func read(_ conn: BoutiqueConnection) throws -> Board {
    var board = Board()
    let counts = try Job.group { $0.state }.select { ($0.state, $0.count()) }.fetchAll(conn)
    for (state, count) in counts { board.counts[state] = count }
    board.jobs = try Job.where { $0.state.neq(.done) }.order { ($0.state.desc(), $0.id) }.limit(20)
      .fetchAll(conn)
    return board
  }

  var lines: [String] {
    let totals = JobState.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }
    var lines = [totals.joined(separator: "   "), ""]
    for job in jobs {
      let filled = min(20, max(0, job.progress / 5))
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
      let name = String(job.name.filter { !$0.isNewline }.prefix(30))
      lines.append("\(job.state.rawValue.padded(to: 8)) \(name.padded(to: 30)) \(bar)")
    }
    return lines
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
