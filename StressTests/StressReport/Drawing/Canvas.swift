import Foundation
import StressHistory

/// A drawing in the making, as SVG.
///
/// Colours are classes that ``PageStyle`` gives to light and to dark pages. A drawing is as wide as its place;
/// its units are pixels only by and large.
struct Canvas {
  let width: Double
  var height: Double
  /// What the drawing shows, for those who do not see it.
  let title: String
  /// Whether its units are pixels, however little room there is: for drawings with much text.
  var isFixed = false
  private var parts: [String] = []

  init(width: Double, height: Double, title: String) {
    self.width = width
    self.height = height
    self.title = title
  }

  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, _ style: String, tip: String? = nil,
    corner: Double = 0
  ) {
    let round = corner > 0 ? " rx=\"\(Self.text(corner))\"" : ""
    let place =
      "<rect x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(max(0, width)))\" "
      + "height=\"\(Self.text(max(0, height)))\"\(round) class=\"\(style)\""
    if let tip {
      parts.append(place + ">" + Markup.element("title", text: tip) + "</rect>")
    } else {
      parts.append(place + "/>")
    }
  }

  mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) {
    parts.append(
      "<line x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" x2=\"\(Self.text(x2))\" "
        + "y2=\"\(Self.text(y2))\" class=\"\(style)\"/>")
  }

  /// A path of SVG's little language; `marker` is the name of an arrow head at its end.
  mutating func path(_ commands: String, _ style: String, marker: String? = nil) {
    let end = marker.map { " marker-end=\"url(#\($0))\"" } ?? ""
    parts.append("<path d=\"\(commands)\" class=\"\(style)\"\(end)/>")
  }

  /// Lines through points; where a point is missing there is a gap, and a point alone is a dot.
  mutating func curve(_ points: [(x: Double, y: Double)?], _ style: String) {
    var commands = ""
    var run: [(x: Double, y: Double)] = []
    func close(_ run: [(x: Double, y: Double)]) -> String {
      guard let first = run.first else { return "" }
      let rest = run.dropFirst().map { "L\(Self.text($0.x)) \(Self.text($0.y))" }.joined()
      return "M\(Self.text(first.x)) \(Self.text(first.y))" + (rest.isEmpty ? "h0.01" : rest)
    }
    for point in points {
      if let point {
        run.append(point)
      } else {
        commands += close(run)
        run = []
      }
    }
    commands += close(run)
    if !commands.isEmpty { path(commands, "line " + style) }
  }

  /// Text on a line; `anchor` says which of its ends is at the place.
  mutating func text(
    _ text: String, x: Double, y: Double, _ style: String = "", anchor: Anchor = .start,
    tip: String? = nil
  ) {
    let anchorText = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    let styleText = style.isEmpty ? "" : " class=\"\(style)\""
    let tip = tip.map { Markup.element("title", text: $0) } ?? ""
    parts.append(
      "<text x=\"\(Self.text(x))\" y=\"\(Self.text(y))\"\(anchorText)\(styleText)>"
        + tip + Markup.escaped(text) + "</text>")
  }

  /// Markup of which the caller knows that it is right.
  mutating func raw(_ markup: String) { parts.append(markup) }

  enum Anchor: String {
    case start
    case middle
    case end
  }

  /// The drawing as an element of a page.
  var svg: String {
    let size =
      isFixed
      ? "width=\"\(Self.text(width))\" height=\"\(Self.text(height))\""
      : "class=\"chart\""
    return "<svg viewBox=\"0 0 \(Self.text(width)) \(Self.text(height))\" \(size) role=\"img\" "
      + "aria-label=\"\(Markup.escaped(title))\">" + parts.joined() + "</svg>"
  }

  /// A number with as many digits as an eye can tell.
  static func text(_ number: Double) -> String {
    guard number.isFinite else { return "0" }
    let tenths = (number * 10).rounded() / 10
    return tenths == tenths.rounded() ? String(tenths.whole) : String(format: "%.1f", tenths)
  }

  /// A number with two digits behind the point.
  static func hundredths(_ number: Double) -> String { String(format: "%.2f", number) }
}
