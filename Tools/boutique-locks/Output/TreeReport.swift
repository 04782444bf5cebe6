import CommandLineSupport
import LockInspection

/// Who waits for whom, drawn as a tree: whoever is in the way above those who wait.
struct TreeReport {
  private let inspection: Inspection
  private let style: TerminalStyle
  private let graph: WaitGraph

  init(_ inspection: Inspection, _ style: TerminalStyle) {
    self.inspection = inspection
    self.style = style
    graph = WaitGraph(waits: inspection.waits)
  }

  var lines: [String] {
    var lines: [String] = []
    var drawn: Set<ProcessReference.Key> = []
    for root in graph.roots { draw(root, &lines, &drawn) }
    // What is left hangs on a ring, which has no beginning: its lowest pid will do.
    for cycle in inspection.cycles {
      guard let first = cycle.first, !drawn.contains(first.key) else { continue }
      lines.append(style.paint("a ring of waits:", .red))
      draw(first, &lines, &drawn)
    }
    if lines.isEmpty, inspection.exitStatus != 2 {
      lines.append("Nobody waits.")
      lines += holders
    }
    return lines.map { $0.truncated(toWidth: style.columns ?? .max) }
  }

  private var holders: [String] {
    inspection.databases.compactMap { database in
      database.writeLease?.holder.map { holder in
        "\(describe(holder)) has the write lease of \(Wording.file(database.path).visible())"
      }
    }
  }

  private func draw(
    _ root: ProcessReference, _ lines: inout [String], _ drawn: inout Set<ProcessReference.Key>
  ) {
    drawn.insert(root.key)
    lines.append(describe(root) + holding(root))
    drawWaiters(of: root, path: [root.key], prefix: "", &lines, &drawn)
  }

  private func drawWaiters(
    of process: ProcessReference, path: [ProcessReference.Key], prefix: String,
    _ lines: inout [String], _ drawn: inout Set<ProcessReference.Key>
  ) {
    let waits = graph.waiters(of: process)
    for (index, wait) in waits.enumerated() {
      let isLast = index == waits.count - 1
      let time = wait.seconds.map { " \(Wording.time($0))" } ?? ""
      let text = "\(describe(wait.waiter)) waits\(time) for \(wait.resource.visible())"
      let isRing = path.contains(wait.waiter.key)
      lines.append(
        prefix + (isLast ? "└─ " : "├─ ") + text
          + (isRing ? style.paint("  ↺ ring: see above", .red) : ""))
      guard !isRing, path.count < 32 else { continue }
      drawn.insert(wait.waiter.key)
      drawWaiters(
        of: wait.waiter, path: path + [wait.waiter.key], prefix: prefix + (isLast ? "   " : "│  "),
        &lines, &drawn)
    }
  }

  private func describe(_ process: ProcessReference) -> String {
    var text = "pid \(process.pid)"
    if process.pidNamespace == .other { text += " of another pid namespace" }
    if !process.label.isEmpty { text += " “\(process.label.visible())”" }
    if let trouble = process.trouble { text += " " + style.paint(trouble, .red) }
    return text
  }

  private func holding(_ process: ProcessReference) -> String {
    for database in inspection.databases {
      let name = Wording.file(database.path).visible()
      if let lease = database.writeLease, lease.holder?.key == process.key {
        let time = lease.heldForSeconds.map { " for \(Wording.time($0))" } ?? ""
        return ": has the write lease of \(name)\(time)"
      }
      let writers = database.writersInTheWay(of: database.writeLease?.holder)
      if writers.contains(where: { $0.key == process.key }) {
        return ": has SQLite's write lock of \(name)"
      }
    }
    return ""
  }
}
