import CommandLineSupport
import LockInspection

/// The result for people: for each database a headline, facts as names and values, and tables.
struct TextReport {
  private let inspection: Inspection
  private let style: TerminalStyle
  private var width: Int { style.columns ?? 80 }

  init(_ inspection: Inspection, _ style: TerminalStyle) {
    self.inspection = inspection
    self.style = style
  }

  var lines: [String] {
    var blocks = inspection.databases.map { DatabaseText($0, style).lines }
    if blocks.isEmpty, inspection.exitStatus == 0 {
      blocks.append(["No process has a database open through BoutiqueDB."])
    }
    if inspection.exitStatus != 2 {
      let unseen = UnseenText.lines(inspection.unseen, style, width: width)
      if !unseen.isEmpty { blocks.append(unseen) }
    }
    return Array(blocks.joined(separator: [""]))
  }
}

/// What could not be seen, as lines.
enum UnseenText {
  static func lines(_ unseen: [Unseen], _ style: TerminalStyle, width: Int) -> [String] {
    unseen.flatMap { remark in
      let text = "\(remark.what): \(remark.why)".visible()
      return HelpLayout.wrap("not seen: " + text, width: width, indent: 2)
        .split(separator: "\n").map { style.paint(String($0), .dim) }
    }
  }
}

/// One database for people.
struct DatabaseText {
  private let database: DatabaseInspection
  private let style: TerminalStyle
  private let width: Int

  init(_ database: DatabaseInspection, _ style: TerminalStyle) {
    self.database = database
    self.style = style
    width = style.columns ?? 80
  }

  var lines: [String] {
    var blocks = [facts]
    for table in [processes, queue, locks, readers, consumers] where !table.rows.isEmpty {
      blocks.append(table.lines(limited))
    }
    if database.sqliteLocks.contains(where: { !$0.isMember }) {
      blocks.append(["* does not stand in line for the write lease"])
    }
    let unseen = UnseenText.lines(database.unseen, style, width: width)
    if !unseen.isEmpty { blocks.append(unseen) }
    // A line longer than the screen would push the others off it; a file has room.
    let title = database.path.visible().truncated(toWidth: style.columns ?? .max)
    return [style.paint(title, .bold)] + Array(blocks.joined(separator: [""]))
  }

  /// Tables fit the width that is promised where nobody says how wide it is.
  private var limited: TerminalStyle {
    var limited = style
    limited.columns = width
    return limited
  }

  // MARK: Facts

  private var facts: [String] {
    var facts: [(String, String)] = [("state", headline)]
    facts.append(("write lease", lease(database.writeLease)))
    facts.append(("migration lease", lease(database.migrationLease)))
    if database.lockFile.condition != .good {
      facts.append(("lock file", style.paint(database.lockFile.condition.words, .yellow)))
    }
    if let log { facts.append(("log", log)) }
    if let changes { facts.append(("change log", changes)) }
    return facts.flatMap { name, value in
      let head = "  " + name + String(repeating: " ", count: max(1, 17 - name.count))
      return (head + HelpLayout.wrap(value, width: width, indent: head.count))
        .split(separator: "\n").map { String($0) }
    }
  }

  private var headline: String {
    guard let worst = database.findings.first(where: { $0.severity != .note }) else {
      let count = database.processCount
      let open =
        count == 0
        ? "nobody has it open" : "\(Wording.count(count, "process has", "processes have")) it open"
      return style.paint("normal", .green) + ", \(open)"
    }
    let ink: TerminalStyle.Ink = worst.severity == .problem ? .red : .yellow
    let more = database.findings.filter { $0.severity != .note }.count - 1
    return style.paint(worst.kind.words, ink) + (more > 0 ? ", and \(more) more" : "")
      + "; see --explain"
  }

  private func lease(_ lease: LeaseFacts?) -> String {
    guard let lease else { return "free" }
    guard let holder = lease.holder else { return "held by a process that cannot be seen" }
    var text = Wording.name(holder).visible()
    if let time = lease.heldForSeconds { text += " for \(Wording.time(time))" }
    if let trouble = holder.trouble { text += style.paint(", \(trouble)", .red) }
    if let purpose = lease.purpose { text += ": \(purpose.visible())" }
    for other in lease.alsoHeldBy { text += "; also \(Wording.name(other).visible()) by fork" }
    return text
  }

  private var log: String? {
    guard let log = database.log else { return nil }
    var text = Wording.bytes(log.bytes)
    if let frames = log.frames {
      text +=
        ", \(Wording.count(frames, "page")), \(log.uncheckpointedFrames ?? 0) not checkpointed"
    }
    if let reader = log.readers.first(where: \.holdsLogBack) {
      let who = reader.process.map(Wording.name)?.visible() ?? "somebody unseen"
      text += ", held back by \(who)"
    }
    return text
  }

  private var changes: String? {
    guard let changes = database.changes else { return nil }
    guard let first = changes.firstToken, let last = changes.lastToken else { return "empty" }
    return "tokens \(first) to \(last)"
  }

  // MARK: Tables

  private var processes: TextTable {
    var table = TextTable(titles: ["PID", "USER", "STATE", "OPEN", "LABEL", "WHERE", "COMMAND"])
    for process in database.processes {
      let number = process.pidNamespace == .other ? "\(process.pid) elsewhere" : "\(process.pid)"
      var place = process.container ?? ""
      if process.pidNamespace == .other { place = "other pid namespace" }
      if process.innerPid != nil, place.isEmpty { place = "pid namespace" }
      let open = process.openForSeconds.map(Wording.time) ?? ""
      table.append([
        .number(number), .text(process.user), .text(process.reference.stateName), .text(open),
        .text(process.role == .member ? process.label : process.role.words), .text(place),
        .text(process.command),
      ])
    }
    return table.withoutEmptyColumns
  }

  private var queue: TextTable {
    var table = TextTable(titles: ["PLACE", "PID", "WAITING", "LABEL", "STATE"])
    for entry in database.queue {
      table.append([
        .text(entry.place.map(Wording.ordinal) ?? "passed over"), .number("\(entry.process.pid)"),
        .text(Wording.time(entry.waitingForSeconds)), .text(entry.process.label),
        .text(entry.process.stateName),
      ])
    }
    return table
  }

  /// SQLite's locks, one line for all processes that have the same.
  private var locks: TextTable {
    var table = TextTable(titles: ["SQLITE LOCK", "MODE", "HELD BY"])
    var lines: [(rank: Int, name: String, mode: String, holders: [String])] = []
    for lock in database.sqliteLocks.sorted(by: { ($0.process?.pid ?? 0) < ($1.process?.pid ?? 0) })
    {
      let name = lock.words
      let mode = (lock.isExclusive ? "exclusive" : "shared") + (lock.isWaiting ? ", waits" : "")
      var holder = lock.process.map { "\($0.pid)" } ?? "?"
      if !lock.isMember { holder += "*" }
      if let index = lines.firstIndex(where: { $0.name == name && $0.mode == mode }) {
        lines[index].holders.append(holder)
      } else {
        lines.append((lock.rank, name, mode, [holder]))
      }
    }
    for line in lines.sorted(by: { $0.rank < $1.rank }) {
      table.append([
        .text(line.name), .text(line.mode), .text(line.holders.joined(separator: " ")),
      ])
    }
    return table
  }

  private var readers: TextTable {
    var table = TextTable(titles: ["READER", "MARK", "SNAPSHOT", "BEHIND", "HOLDS THE LOG BACK"])
    for reader in database.log?.readers ?? [] {
      table.append([
        .number(reader.process.map { "\($0.pid)" } ?? "?"), .number("\(reader.mark)"),
        .text("page \(reader.frame)"), .number("\(reader.framesBehind ?? 0)"),
        .text(reader.holdsLogBack ? "yes" : "no"),
      ])
    }
    return table
  }

  private var consumers: TextTable {
    var table = TextTable(titles: ["CONSUMER", "TOKEN", "BEHIND", "SEEN"])
    for consumer in database.changes?.consumers ?? [] {
      table.append([
        .text(consumer.name), .number("\(consumer.token)"), .number("\(consumer.behind)"),
        .text(consumer.lastSeenSecondsAgo.map { "\(Wording.time($0)) ago" } ?? ""),
      ])
    }
    return table
  }
}

extension TextTable {
  /// The table without the columns in which no row has anything.
  fileprivate var withoutEmptyColumns: TextTable {
    let kept = titles.indices.filter { column in
      rows.contains { $0[column] != .text("") }
    }
    var table = TextTable(titles: kept.map { titles[$0] })
    for row in rows { table.append(kept.map { row[$0] }) }
    return table
  }
}
