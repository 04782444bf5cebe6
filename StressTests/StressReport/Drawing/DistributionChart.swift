import StressHistory

/// How often which time was met: both axes logarithmic, because one slow operation among a million is what the
/// drawing is looked at for.
enum DistributionChart {
  private static let left = 70.0
  private static let right = PageStyle.chartWidth - 16
  private static let top = 66.0
  private static let height = 150.0

  /// Draws it; nothing when there is no value.
  static func html(_ title: String, _ histogram: LogHistogram) -> String {
    let ranges = histogram.ranges(perDoubling: 4)
    guard let first = ranges.first, let last = ranges.last else { return "" }
    var canvas = Canvas(
      width: PageStyle.chartWidth, height: top + height + 26, title: "\(title), how often")
    let times = Scale(
      .logarithmic, values: max(1, Double(first.low)) * 0.9...max(2, Double(last.high)) * 1.1,
      from: left, to: right)
    let most = ranges.map(\.count).max() ?? 1
    let counts = Scale(
      .logarithmic, values: 0.7...Double(max(most, 2)) * 1.1, from: top + height, to: top)
    for mark in counts.marks(about: 4) where mark >= 1 {
      let y = counts.place(mark)
      canvas.line(left, y, right, y, "grid")
      canvas.text(FigureText.short(mark), x: left - 6, y: y + 4, "soft", anchor: .end)
    }
    for range in ranges where range.count > 0 {
      let from = times.place(max(1, Double(range.low)))
      let to = times.place(max(1, Double(range.high)))
      let y = counts.place(Double(range.count))
      canvas.rectangle(
        x: from, y: y, width: max(1, to - from - 0.6), height: top + height - y, "fill-blue",
        tip: "\(FigureText.time(range.low)) to \(FigureText.time(range.high)): "
          + FigureText.count(range.count))
    }
    canvas.line(left, top + height, right, top + height, "axis")
    for mark in times.marks(about: 5) {
      let x = times.place(mark)
      canvas.line(x, top + height, x, top + height + 4, "axis")
      canvas.text(
        FigureText.time(mark.whole), x: x, y: top + height + 19, "soft",
        anchor: x > right - 24 ? .end : .middle)
    }
    addQuantiles(of: histogram, to: &canvas, times)
    return TimeCharts.card(
      "\(title), how often (\(FigureText.count(histogram.count)))", key: [], canvas)
  }

  /// Each has a line of text of its own, so that they stand apart however near they are.
  private static func addQuantiles(
    of histogram: LogHistogram, to canvas: inout Canvas, _ times: Scale
  ) {
    let parts: [(String, Double)] = [("median", 0.5), ("99 %", 0.99), ("longest", 1)]
    for (row, (name, part)) in parts.enumerated() {
      guard let value = histogram.quantile(part) else { continue }
      let x = times.place(max(1, Double(value)))
      let y = 16 + Double(row) * 19
      canvas.line(x, y - 10, x, top + height, "marker")
      let isRight = x > (left + right) / 2
      canvas.text(
        "\(name) \(FigureText.time(value))", x: isRight ? x - 6 : x + 6, y: y, "label",
        anchor: isRight ? .end : .start)
    }
  }
}
