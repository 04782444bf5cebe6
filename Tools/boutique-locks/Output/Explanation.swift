import CommandLineSupport
import LockInspection

/// What is wrong and what a person can do, one paragraph a database.
struct Explanation {
  private let inspection: Inspection
  private let style: TerminalStyle

  init(_ inspection: Inspection, _ style: TerminalStyle) {
    self.inspection = inspection
    self.style = style
  }

  var lines: [String] {
    let width = min(style.columns ?? 80, 100)
    var paragraphs = inspection.databases.map { paragraph($0) }
    if paragraphs.isEmpty, inspection.exitStatus == 0 {
      paragraphs.append("No process has a database open through BoutiqueDB.")
    }
    var blocks = paragraphs.map { text in
      HelpLayout.wrap(text, width: width).split(separator: "\n").map { String($0) }
    }
    var unseen = inspection.databases.flatMap(\.unseen)
    if inspection.exitStatus != 2 { unseen += inspection.unseen }
    var seen: Set<Unseen> = []
    let remarks = UnseenText.lines(unseen.filter { seen.insert($0).inserted }, style, width: width)
    if !remarks.isEmpty { blocks.append(remarks) }
    return Array(blocks.joined(separator: [""]))
  }

  private func paragraph(_ database: DatabaseInspection) -> String {
    let head = database.path.visible() + ": "
    let serious = database.findings.filter { $0.severity != .note }
    let notes = database.findings.filter { $0.severity == .note }
    var sentences = serious.map(sentence)
    if serious.isEmpty { sentences.append(normal(database)) }
    sentences += notes.map(sentence)
    return head + sentences.joined(separator: " ")
  }

  private func sentence(_ finding: Finding) -> String {
    [finding.text, finding.advice].compactMap(\.self).joined(separator: " ").visible()
  }

  private func normal(_ database: DatabaseInspection) -> String {
    let count = database.processCount
    if count == 0 { return "Nothing is wrong: nobody has it open." }
    var text = "Nothing is wrong: \(Wording.count(count, "process has", "processes have")) it open"
    if let holder = database.writeLease?.holder {
      text += ", \(Wording.name(holder)) writes"
      if let time = database.writeLease?.heldForSeconds {
        text += ", for \(Wording.time(time)) now"
      }
    }
    switch database.queue.count {
    case 0: text += ", nobody waits."
    case 1: text += ", one waits."
    default: text += ", \(database.queue.count) wait in turn."
    }
    return text.visible()
  }
}
