import StressHistory

/// The drawings of a run over its time; each stands on the same axis.
enum TimeCharts {
  /// All that there is something to show in.
  static func html(_ run: SavedRun) -> String {
    let axis = TimeAxis(run)
    let slots = run.figures.slots
    var cards = [throughput(slots, axis)]
    cards.append(quantiles("Latency of operations", slots.map(\.latency), axis))
    cards.append(quantiles("Waiting for the write lock", slots.map(\.lockWait), axis))
    cards.append(quantiles("From commit to live query", slots.map(\.refresh), axis))
    cards.append(log(slots, axis))
    if !run.faults.isEmpty {
      cards.append(
        card(
          "Faults",
          key: [("fill-red", "in a moment"), ("fill-orange", "lasting")],
          axis.faultChart(run.faults)))
    }
    return cards.joined()
  }

  /// A card with a title, what its colours mean, and a drawing.
  static func card(_ title: String, key: [(style: String, text: String)], _ canvas: Canvas)
    -> String
  {
    let entries = key.map { "<span><i class=\"\($0.style)\"></i>\(Markup.escaped($0.text))</span>" }
    return "<div class=\"card\">" + Markup.element("h3", text: title)
      + (entries.isEmpty ? "" : "<div class=\"key\">\(entries.joined())</div>") + canvas.svg
      + "</div>"
  }

  private static func throughput(_ slots: [RunFigures.Slot], _ axis: TimeAxis) -> String {
    let rates = slots.enumerated().map {
      Double($0.element.outcomes.all) / axis.length(of: $0.offset)
    }
    let greatest = max(1, rates.max() ?? 1)
    var (canvas, scale) = axis.chart(
      title: "operations in a second over time", height: 110, .linear, values: 0...greatest * 1.05,
      label: FigureText.short)
    for (index, slot) in slots.enumerated() {
      let (left, right) = axis.edges(of: index)
      var below = 0
      for (count, style) in [
        (slot.outcomes.done, "fill-blue"), (slot.outcomes.refused, "fill-amber"),
        (slot.outcomes.unknown, "fill-red"),
      ] where count > 0 {
        let length = axis.length(of: index)
        let foot = scale.place(Double(below) / length)
        below = below.plus(count)
        let head = scale.place(Double(below) / length)
        canvas.rectangle(x: left, y: head, width: right - left, height: foot - head, style)
      }
    }
    return card(
      "Operations in a second",
      key: [("fill-blue", "done"), ("fill-amber", "refused"), ("fill-red", "unknown")], canvas)
  }

  private static func quantiles(
    _ title: String, _ values: [RunFigures.Quantiles], _ axis: TimeAxis
  ) -> String {
    let all = values.flatMap { [$0.median, $0.p99, $0.greatest] }.compactMap(\.self).map(
      Double.init)
    guard let least = all.min(), let greatest = all.max() else { return "" }
    let low = max(1, least)
    var (canvas, scale) = axis.chart(
      title: "\(title) over time", height: 110, .logarithmic,
      values: low * 0.8...max(greatest, low) * 1.25, label: { FigureText.time($0.whole) })
    func curve(_ part: KeyPath<RunFigures.Quantiles, Int64?>) -> [(x: Double, y: Double)?] {
      values.enumerated().map { index, value in
        value[keyPath: part].map { (axis.middle(of: index), scale.place(max(1, Double($0)))) }
      }
    }
    canvas.curve(curve(\.greatest), "pale")
    canvas.curve(curve(\.p99), "orange")
    canvas.curve(curve(\.median), "blue")
    return card(
      title, key: [("fill-blue", "median"), ("fill-orange", "99 %"), ("fill-pale", "longest")],
      canvas)
  }

  private static func log(_ slots: [RunFigures.Slot], _ axis: TimeAxis) -> String {
    guard let greatest = slots.compactMap(\.logBytes).max() else { return "" }
    // Marks at whole numbers of the unit that the greatest value has.
    var unit: Int64 = 1
    while unit <= greatest / 1024 { unit *= 1024 }
    let top = Double(greatest) / Double(unit)
    var (canvas, scale) = axis.chart(
      title: "length of the write-ahead log over time", height: 90, .linear,
      values: 0...max(top * 1.05, 0.001),
      label: { FigureText.bytes(($0 * Double(unit)).whole) })
    canvas.curve(
      slots.enumerated().map { index, slot in
        slot.logBytes.map { (axis.middle(of: index), scale.place(Double($0) / Double(unit))) }
      }, "blue")
    return card("Length of the write-ahead log", key: [], canvas)
  }
}
