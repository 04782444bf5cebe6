import BoutiqueDB
import CommandLineSupport

extension DatabaseStatus {
  /// The status for people: facts as names and values, then the processes as a table.
  func lines(_ style: TerminalStyle) -> [String] {
    let width = facts(style).map(\.name.displayWidth).max() ?? 0
    let head = facts(style).map { name, value in
      name + String(repeating: " ", count: width + 2 - name.displayWidth) + value
    }
    let tables = [consumers.isEmpty ? nil : consumerTable, members.isEmpty ? nil : processes]
    return head + tables.compactMap(\.self).flatMap { [""] + $0.lines(style) }
  }

  private func facts(_ style: TerminalStyle) -> [(name: String, value: String)] {
    var facts = [
      ("database", "\(path.visible()) (\(Self.size(databaseBytes)))"),
      ("log", logText), ("token", tokenText), ("changes", changesText(style)),
      ("writer", writerText(style)),
      ("waiting", waiters.isEmpty ? "nobody" : "\(waiters.count)"), ("bell", bell),
      ("SQLite", sqliteVersion + (journalMode == "wal" ? "" : ", journal mode \(journalMode)")),
    ]
    if sqliteHasWALResetBug {
      facts.append(
        (
          "note",
          "this SQLite can lose commits when a program without this library checkpoints beside a "
            + "writer (fixed in 3.51.3)"
        ))
    }
    if !migrations.isEmpty { facts.append(("migrations", migrations.joined(separator: ", "))) }
    if let checkpointError {
      facts.append(("checkpoint", style.paint(checkpointError, .red)))
    }
    if let coordinationProblem {
      facts.append(("no queue", style.paint(coordinationProblem, .yellow)))
    }
    return facts
  }

  private var logText: String {
    var text = Self.size(writeAheadLogBytes)
    if let writeAheadLogFrames, let checkpointedFrames {
      text += ", \(checkpointedFrames) of \(writeAheadLogFrames) pages checkpointed"
    }
    return text
  }

  private var tokenText: String {
    "\(ChangeToken(generation: newestToken.generation, number: newestToken.number, stamp: newestToken.stamp))"
  }

  private func changesText(_ style: TerminalStyle) -> String {
    var text = "\(loggedCommits) commit\(loggedCommits == 1 ? "" : "s") kept"
    if let oldestToken { text += ", \(oldestToken) to \(newestToken.number)" }
    if let prunedThrough, prunedThrough > 0 { text += ", pruned up to \(prunedThrough)" }
    guard isHardBoundReached else { return text }
    return text + ", " + style.paint("hard bound of \(hardBound) reached", .red)
  }

  private var consumerTable: TextTable {
    var table = TextTable(titles: ["consumer", "acknowledged", "behind", "seen", "state", "label"])
    for consumer in consumers {
      var state = consumer.pid.map { "pid \($0)" } ?? "away"
      if consumer.isExpired { state = "expired" }
      if consumer.isCutOff { state += ", records are gone" }
      let lag = "\(consumer.lag) commit\(consumer.lag == 1 ? "" : "s")"
      table.append([
        .text(consumer.name), .number(String(consumer.acknowledged.number)),
        .text(consumer.lag == 0 ? "" : "\(lag), \(Self.duration(consumer.lagSeconds))"),
        .text(ClockText.localDate(consumer.lastSeen)), .text(state), .text(consumer.label),
      ])
    }
    return table
  }

  private func writerText(_ style: TerminalStyle) -> String {
    guard let holder else { return "nobody" }
    var text = "pid \(holder.member.pid) “\(holder.member.label.visible())”"
    if let time = holder.heldFor { text += " for \(Self.duration(time))" }
    if let purpose = holder.purpose, !purpose.isEmpty { text += ", \(purpose.visible())" }
    guard holder.member.state == "stopped" else { return text }
    return style.paint(text + ", stopped (kill -CONT \(holder.member.pid))", .red)
  }

  private var processes: TextTable {
    var table = TextTable(titles: ["pid", "label", "state", "lease", "command"])
    for member in members {
      let waiting = waiters.firstIndex { $0.member.pid == member.pid }
      var lease = ""
      if holder?.member.pid == member.pid {
        lease = "holder"
      } else if let waiting {
        lease = "\(waiting + 1). in line, \(Self.duration(waiters[waiting].waitingFor))"
      }
      table.append([
        .number(String(member.pid)), .text(member.label), .text(member.state), .text(lease),
        .text(member.command),
      ])
    }
    return table
  }

  private static func size(_ bytes: Int64) -> String {
    let units = ["kB", "MB", "GB", "TB"]
    if bytes < 1000 { return "\(bytes) bytes" }
    var value = Double(bytes) / 1000
    var unit = 0
    while value >= 999.95, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return "\(tenths(value)) \(units[unit])"
  }

  private static func duration(_ seconds: Double) -> String {
    seconds < 120 ? "\(tenths(seconds)) s" : "\(Int64(seconds / 60)) min"
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
