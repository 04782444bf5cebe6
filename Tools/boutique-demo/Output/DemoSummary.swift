import CommandLineSupport

/// The account at the end.
struct DemoSummary {
  let place: DemoPlace
  let style: TerminalStyle
  let result: RunResult
  let verification: Verification
  let batch: Int
  let elapsed: Int64

  /// The whole text.
  var text: String {
    let blocks = [processes, latencies, checks]
    return blocks.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  private var processes: [String] {
    var table = TextTable(titles: [
      "process", "transactions", "files read", "passes", "wait p50", "wait p99", "wait max",
    ])
    var unreadable = 0
    var vanished = 0
    for (label, ending, link) in result.indexers {
      guard let account = link.indexerAccount else {
        table.append([.text("\(label) (\(ending))")])
        continue
      }
      unreadable += account.unreadable
      vanished += account.vanished
      table.append([
        .text(label), .number(Figures.count(account.transactions)),
        .number(Figures.count(account.filesRead)), .number(Figures.count(account.fullPasses)),
        .number(Figures.duration(account.waits.median)),
        .number(Figures.duration(account.waits.p99)),
        .number(Figures.duration(account.waits.longest)),
      ])
    }
    let shell = result.shell
    table.append([
      .text(SQLiteShell.label), .number(Figures.count(shell.transactions)), .text(""), .text(""),
      .number(Figures.duration(shell.durations.median)),
      .number(Figures.duration(shell.durations.p99)),
      .number(Figures.duration(shell.durations.longest)),
    ])
    var head =
      "\(Figures.many(verification.rows, "row")), \(Figures.bytes(verification.databaseBytes)), "
      + "in \(Figures.duration(elapsed)) altogether"
    if verification.unsteady > 0 {
      head += "; \(Figures.many(verification.unsteady, "file")) changed meanwhile"
    }
    if unreadable > 0 { head += "; not readable: \(Figures.many(unreadable, "time"))" }
    if vanished > 0 { head += "; gone before reading: \(Figures.many(vanished, "time"))" }
    return [style.paint(head, .bold), ""] + table.lines(style)
      + dim(
        "wait: from asking for the write lock to the first statement, one for each transaction;")
      + dim("      of sqlite3, which says nothing of its waits, the whole transaction")
  }

  private var latencies: [String] {
    guard let account = result.reporter else { return ["The reporter left no account."] }
    var table = TextTable(titles: [
      "from commit to refresh", "commits", "p50", "p99", "max",
    ])
    func row(_ name: String, _ durations: Durations.Summary) {
      table.append([
        .text(name), .number(Figures.count(durations.count)),
        .number(Figures.duration(durations.median)), .number(Figures.duration(durations.p99)),
        .number(Figures.duration(durations.longest)),
      ])
    }
    row("indexers → reporter", account.fromIndexers)
    row("sqlite3 → reporter", account.fromShell)
    row("the live query alone", account.query)
    let head =
      "\(Figures.many(account.commitsSeen, "commit")) reached the reporter in "
      + "\(Figures.count(account.refreshes)) refreshes"
    return [style.paint(head, .bold), ""] + table.lines(style)
      + dim(
        "The last statement of each transaction stores the clock (CLOCK_MONOTONIC; sqlite3: the")
      + dim(
        "wall clock, in milliseconds), the live query reads these stamps with the rest, and the")
      + dim("reporter looks at the clock when it holds the value: COMMIT and query are included.")
  }

  private var checks: [String] {
    var lines: [String] = []
    for finding in verification.findings {
      let mark = finding.holds ? style.paint("✓", .green) : style.paint("✗", .red)
      lines.append(
        "\(mark) " + (finding.holds ? finding.text : "NOT SO: \(finding.text)"))
      lines += finding.details.map { "    " + $0.visible() }
    }
    return lines
  }

  private func dim(_ text: String) -> [String] { [style.paint(text, .dim)] }
}
