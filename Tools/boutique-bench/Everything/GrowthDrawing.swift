import Foundation

/// The growth of several figures, as small charts with logarithmic axes in one SVG: what is paid for each row and
/// stays the same is level, what grows with the number rises.
struct GrowthDrawing {
  private static let columns = 2
  private static let width = 440.0
  private static let height = 300.0
  private static let colours = ["#2f6fb5", "#c7690f", "#237a45", "#8a4fb0"]

  private let subjects: [GrowthCommand.Measured]
  private let machine: MachineFacts

  init(_ subjects: [GrowthCommand.Measured], _ machine: MachineFacts) {
    self.subjects = subjects
    self.machine = machine
  }

  /// The whole file.
  var svg: String {
    let rows = (subjects.count + Self.columns - 1) / Self.columns
    let (width, height) = (Self.width * Double(Self.columns), Self.height * Double(rows) + 30)
    let charts = subjects.enumerated().map { index, subject in
      let x = Double(index % Self.columns) * Self.width
      let y = Double(index / Self.columns) * Self.height
      return "<g transform=\"translate(\(number(x)) \(number(y)))\">\(chart(subject))</g>"
    }
    let facts = machine.lines.joined(separator: "; ")
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
      width="\(number(width))" height="\(number(height))" font-family="system-ui, sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(charts.joined(separator: "\n"))
      \(text(facts, 12, height - 12, "fill=\"#5c6570\" font-size=\"10\""))
      </svg>

      """
  }

  // MARK: One chart

  private struct Axis {
    let low: Double
    let high: Double
    let from: Double
    let to: Double

    /// From a power of ten to another that hold all values between them.
    init(_ values: [Double], from: Double, to: Double, isExact: Bool = false) {
      let present = values.filter { $0 > 0 }
      let (least, most) = (present.min() ?? 1, present.max() ?? 10)
      low = isExact ? least : pow(10, floor(log10(least)))
      let top = isExact ? most : pow(10, ceil(log10(most)))
      high = top > low ? top : low * 10
      self.from = from
      self.to = to
    }

    func place(_ value: Double) -> Double {
      let value = min(max(value, low), high)
      return from + log(value / low) / log(high / low) * (to - from)
    }

    var marks: [Double] {
      let count = Int(log10(high / low).rounded())
      return (0...max(1, min(count, 12))).map { low * pow(10, Double($0)) }
    }
  }

  private func chart(_ subject: GrowthCommand.Measured) -> String {
    let (left, right, top) = (64.0, Self.width - 20, 40.0)
    let legend = Double(subject.lines.count) * 16
    let foot = Self.height - 50 - legend
    let across = Axis(subject.sizes.map(Double.init), from: left, to: right, isExact: true)
    let upright = Axis(subject.lines.flatMap(\.values), from: foot, to: top)
    var parts = [
      text(subject.title, left, 18, "font-weight=\"600\" fill=\"#1d2127\""),
      text(subject.unit, left, 33, "fill=\"#5c6570\""),
    ]
    for mark in upright.marks {
      let y = upright.place(mark)
      parts.append(line(left, y, right, y, "#dcdfe3"))
      parts.append(text(Self.short(mark), left - 6, y + 4, "fill=\"#5c6570\" text-anchor=\"end\""))
    }
    for size in subject.sizes {
      let x = across.place(Double(size))
      parts.append(line(x, foot, x, foot + 4, "#5c6570"))
      parts.append(
        text(Self.short(Double(size)), x, foot + 17, "fill=\"#5c6570\" text-anchor=\"middle\""))
    }
    parts.append(
      text(subject.axis, (left + right) / 2, foot + 17, "fill=\"#5c6570\" text-anchor=\"middle\""))
    for (index, series) in subject.lines.enumerated() {
      let colour = Self.colours[index % Self.colours.count]
      let points = zip(subject.sizes, series.values).map { size, value in
        (x: across.place(Double(size)), y: upright.place(value))
      }
      let path = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
      parts.append(
        "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
      for point in points {
        parts.append(
          "<circle cx=\"\(number(point.x))\" cy=\"\(number(point.y))\" r=\"3\" fill=\"\(colour)\"/>"
        )
      }
      let y = foot + 36 + Double(index) * 16
      parts.append(
        "<rect x=\"\(number(left))\" y=\"\(number(y - 8))\" width=\"12\" height=\"4\" fill=\"\(colour)\"/>"
      )
      let values = series.values.map(Self.short).joined(separator: " → ")
      parts.append(text("\(series.name): \(values)", left + 18, y, "fill=\"#1d2127\""))
    }
    return parts.joined(separator: "\n")
  }

  // MARK: Markup

  private func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" \(attributes)>\(Self.escaped(text))</text>"
  }

  private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String)
    -> String
  {
    "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" stroke=\"\(colour)\"/>"
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }

  /// A number in little room: `0.42`, `87`, `4.2 k`, `1.3 M`.
  static func short(_ value: Double) -> String {
    switch value {
    case ..<10: trimmed(value, 2)
    case ..<100: trimmed(value, 1)
    case ..<1000: trimmed(value, 0)
    case ..<1e6: trimmed(value / 1e3, value < 1e4 ? 1 : 0) + " k"
    default: trimmed(value / 1e6, 1) + " M"
    }
  }

  private static func trimmed(_ value: Double, _ digits: Int) -> String {
    var text = String(format: "%.\(digits)f", value)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }
}
