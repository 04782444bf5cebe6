import BoutiqueDB
import CommandLineSupport

extension BoutiqueChange {
  /// One line for people: token, time, origin, tables.
  func line(_ style: TerminalStyle) -> String {
    let clock = time.map { ClockText.localDate($0) } ?? "time unknown"
    let what = isEverything ? style.paint("everything", .yellow) : tableSummary
    return "\(shortToken)  \(clock)  \(style.paint(originText, .cyan))  \(what)"
  }

  /// The token without what can be read again from the commit's record.
  private var shortToken: ChangeToken {
    isEverything
      ? token
      : ChangeToken(generation: token.generation, number: token.number, stamp: token.stamp)
  }

  /// The same for programs.
  func jsonText(_ names: ColumnNames) -> String {
    let listed = rows.map { row in
      var members = [
        ("table", JSONText.string(row.table)), ("kind", JSONText.string(row.kind.rawValue)),
        ("key", JSONText.array(row.key.map(\.jsonText))),
        (
          "columns",
          JSONText.array(row.columns.map { JSONText.string(names.name($0, of: row.table)) })
        ),
      ]
      for (name, image) in [
        ("before", row.before), ("after", row.after), ("updates", row.updates),
      ] {
        guard let image else { continue }
        let values = zip(image.columns, image.values).map { ($0, $1.jsonText) }
        members.append((name, JSONText.object(values)))
      }
      return JSONText.object(members)
    }
    return JSONText.object([
      ("token", JSONText.string(token.description)),
      ("time", time.map { JSONText.string(ClockText.utc($0)) } ?? "null"),
      ("origin", originJSON),
      ("everything", isEverything ? "true" : "false"),
      ("tables", JSONText.array(tables.map { JSONText.string($0) })),
      ("wholeTables", JSONText.array(wholeTables.sorted().map { JSONText.string($0) })),
      ("rows", JSONText.array(listed)),
    ])
  }

  private var tableSummary: String {
    if tables.isEmpty { return "no table" }
    return tables.map { table in
      let name = table.visible()
      if wholeTables.contains(table) { return "\(name): all of it" }
      var counts: [RowChange.Kind: Int] = [:]
      for row in rows where row.table == table { counts[row.kind, default: 0] += 1 }
      let signs: [(RowChange.Kind, String)] = [(.insert, "+"), (.update, "~"), (.delete, "-")]
      let parts = signs.compactMap { kind, sign in counts[kind].map { "\(sign)\($0)" } }
      return parts.isEmpty ? name : "\(name): " + parts.joined(separator: " ")
    }.joined(separator: ", ")
  }

  private var originText: String {
    switch origin {
    case .thisProcess: "this process"
    case .process(let pid, let label): "pid \(pid) “\(label.visible())”"
    case .foreign: "unknown"
    }
  }

  private var originJSON: String {
    switch origin {
    case .thisProcess: JSONText.object([("kind", "\"this\"")])
    case .process(let pid, let label):
      JSONText.object([
        ("kind", "\"process\""), ("pid", String(pid)), ("label", JSONText.string(label)),
      ])
    case .foreign: JSONText.object([("kind", "\"foreign\"")])
    }
  }
}
