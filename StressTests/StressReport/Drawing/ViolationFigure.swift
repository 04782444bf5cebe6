import StressHistory

/// The least history that shows a violation: a lane for each client of a process, time downwards, an operation a
/// box from its question to its answer, with what it did.
///
/// Two boxes stand side by side exactly when their intervals overlap, and one stands below another exactly when
/// it began after the other's end. Distances are no measure: a box is as tall as its text needs, and times are
/// written in it.
struct ViolationFigure {
  /// More would not be a minimal history any more; what is left out is told.
  static let limit = 60

  private static let laneWidth = 236.0
  private static let gap = 64.0
  private static let head = 40.0
  private static let lineHeight = 16.0
  /// What fits a lane in the fixed-width font.
  private static let columns = 30
  private static let lineLimit = 9

  private struct Box {
    let operation: OperationRecord
    let lane: Int
    let lines: [String]
    var top = 0.0
    var bottom = 0.0
    var height: Double { Double(lines.count + 2) * ViolationFigure.lineHeight + 12 }
  }

  private struct Lane: Hashable {
    let process: Int
    let client: Int
  }

  private let boxes: [Box]
  private let lanes: [Lane]
  private let edges: [ViolationEdge]
  private let run: SavedRun
  /// When the first of the operations began.
  private let origin: Int64

  init(_ violation: Violation, of run: SavedRun) {
    self.run = run
    let operations = Array(violation.operations.prefix(Self.limit))
    let lanes = Set(operations.map { Lane(process: $0.process, client: $0.client) })
      .sorted { ($0.process, $0.client) < ($1.process, $1.client) }
    self.lanes = lanes
    origin = operations.first?.began ?? run.began
    edges = (violation.edges ?? []).filter { edge in
      operations.indices.contains(edge.from) && operations.indices.contains(edge.to)
    }
    let boxes = operations.map { operation in
      Box(
        operation: operation,
        lane: lanes.firstIndex(of: Lane(process: operation.process, client: operation.client))
          ?? 0,
        lines: Self.lines(operation))
    }
    self.boxes = Self.placed(boxes, lanes: lanes.count)
  }

  private static func lines(_ operation: OperationRecord) -> [String] {
    var lines = operation.steps.map(OperationText.text)
    if let error = operation.error { lines.append(error) }
    if lines.count > lineLimit {
      lines = lines.prefix(lineLimit - 1) + ["… and \(lines.count - lineLimit + 1) more steps"]
    }
    return lines.map { Markup.shortened($0, to: columns) }
  }

  /// Goes through beginnings and ends in order of time and moves down as far as texts need.
  private static func placed(_ boxes: [Box], lanes: Int) -> [Box] {
    var boxes = boxes
    var events: [(time: Int64, isEnd: Bool, box: Int)] = []
    for (index, box) in boxes.enumerated() {
      events.append((box.operation.began, false, index))
      if let ended = box.operation.ended { events.append((ended, true, index)) }
    }
    // What ends when another begins overlaps it: neither is certainly first.
    events.sort { ($0.time, $0.isEnd ? 1 : 0, $0.box) < ($1.time, $1.isEnd ? 1 : 0, $1.box) }
    var y = head
    var free = Array(repeating: head, count: max(1, lanes))
    var last: Int64?
    for event in events {
      if let last, event.time > last { y += 10 }
      last = event.time
      let lane = boxes[event.box].lane
      if event.isEnd {
        y = max(y, boxes[event.box].top + boxes[event.box].height)
        boxes[event.box].bottom = y
        free[lane] = y + 10
      } else {
        y = max(y, free[lane])
        boxes[event.box].top = y
        if boxes[event.box].operation.ended == nil {
          boxes[event.box].bottom = y + boxes[event.box].height
          free[lane] = boxes[event.box].bottom + 10
        }
      }
    }
    return boxes
  }

  private func left(of lane: Int) -> Double {
    Self.gap + Double(lane) * (Self.laneWidth + Self.gap)
  }

  /// The drawing; `number` keeps the names of its arrow heads apart from those of others on the page.
  func svg(number: Int) -> String {
    // The last label may stand below the last box.
    let height = (boxes.map(\.bottom).max() ?? Self.head) + 14 + Double(min(edges.count, 4)) * 4
    var canvas = Canvas(
      width: left(of: lanes.count), height: height,
      title: "minimal history of \(boxes.count) operations in \(lanes.count) lanes")
    canvas.isFixed = true
    let marker = "arrow\(number)"
    canvas.raw(
      "<defs><marker id=\"\(marker)\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
        + "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" class=\"head\"/></marker></defs>"
    )
    for (index, lane) in lanes.enumerated() {
      let middle = left(of: index) + Self.laneWidth / 2
      let client = lane.client == 0 ? "" : ", client \(lane.client)"
      canvas.text(
        run.processName(lane.process) + client, x: middle, y: 20, "title", anchor: .middle)
      canvas.line(middle, 28, middle, height, "lane")
    }
    // Behind the boxes, so that an arrow to a far lane covers no text; its label stands beside its beginning.
    let labels = edges.indices.map { addArrow($0, to: &canvas, marker) }
    for box in boxes { add(box, to: &canvas) }
    for label in ArrowLabel.apart(zip(edges, labels).enumerated().map { label($0, $1.0, at: $1.1) })
    {
      canvas.text(label.text, x: label.x, y: label.y, "halo", anchor: .middle)
    }
    return canvas.svg
  }

  // MARK: Labels

  private func label(
    _ index: Int, _ edge: ViolationEdge, at place: (x: Double, y: Double)
  ) -> ArrowLabel {
    ArrowLabel(
      text: "\(index + 1) \(Markup.shortened(edge.reason, to: 10))", x: place.x,
      y: max(place.y, ArrowLabel.height))
  }

  /// How many lanes stand side by side.
  var laneCount: Int { lanes.count }

  /// Says on screens on which they do not fit that there are more lanes; empty for one.
  var hint: String {
    guard lanes.count > 1 else { return "" }
    let style = lanes.count <= 3 ? "hint lanes\(lanes.count)" : "hint"
    return Markup.element(
      "p", "class=\"\(style)\"",
      text: "\(lanes.count) lanes side by side: scroll sideways to see them all →")
  }

  private func add(_ box: Box, to canvas: inout Canvas) {
    let operation = box.operation
    let x = left(of: box.lane)
    canvas.rectangle(
      x: x, y: box.top, width: Self.laneWidth, height: box.bottom - box.top,
      "box \(operation.outcome.rawValue)",
      tip: operation.steps.map(OperationText.text).joined(separator: "\n"), corner: 5)
    let outcome = OperationText.outcome(operation)
    let title = Markup.shortened(
      "\(operation.name) #\(operation.number)", to: Self.columns - 2 - outcome.count)
    canvas.text(title, x: x + 8, y: box.top + 18, "title")
    canvas.text(
      outcome, x: x + Self.laneWidth - 8, y: box.top + 18, "soft",
      anchor: .end)
    canvas.text(
      OperationText.times(operation, from: origin), x: x + 8,
      y: box.top + 18 + Self.lineHeight, "soft")
    for (index, line) in box.lines.enumerated() {
      canvas.text(
        line, x: x + 8, y: box.top + 18 + Double(index + 2) * Self.lineHeight, "mono")
    }
  }

  /// An arrow from box to box: from side to side, or round the left side within one lane.
  ///
  /// - Returns: where its label has room.
  private func addArrow(
    _ index: Int, to canvas: inout Canvas, _ marker: String
  ) -> (x: Double, y: Double) {
    let edge = edges[index]
    let (from, to) = (boxes[edge.from], boxes[edge.to])
    // Arrows that end at one box end at different places of its side.
    let shift = Double(index % 4) * 11
    let y1 = min(from.top + 26 + shift, from.bottom - 6)
    let y2 = min(to.top + 20 + shift, to.bottom - 6)
    let goesRight = from.lane < to.lane
    let x1 = left(of: from.lane) + (goesRight ? Self.laneWidth : 0)
    let x2 = left(of: to.lane) + (from.lane > to.lane ? Self.laneWidth : 0)
    let isWithin = from.lane == to.lane
    let reach = goesRight ? 40.0 : -40.0
    let (c1, c2) = (x1 + reach, isWithin ? x2 + reach : x2 - reach)
    let text = Canvas.text
    canvas.path(
      "M\(text(x1)) \(text(y1))C\(text(c1)) \(text(y1)) \(text(c2)) \(text(y2)) "
        + "\(text(x2)) \(text(y2))", "edge", marker: marker)
    let isNear = abs(from.lane - to.lane) <= 1
    if isNear { return (max(40, (x1 + 3 * c1 + 3 * c2 + x2) / 8), (y1 + y2) / 2 - 3) }
    return (x1 + (goesRight ? 1 : -1) * Self.gap / 2, y1 - 5)
  }

  /// What the arrows mean, by their numbers.
  var edgeList: String {
    func name(_ index: Int) -> String {
      let operation = boxes[index].operation
      return "\(operation.name) #\(operation.number) of process \(operation.process)"
    }
    if edges.isEmpty { return "" }
    let items = edges.map {
      Markup.element("li", text: "\(name($0.from)) → \(name($0.to)): \($0.reason)")
    }
    return "<ol>\(items.joined())</ol>"
  }
}
