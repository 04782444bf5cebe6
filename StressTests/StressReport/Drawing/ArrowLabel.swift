/// What an arrow of a drawing says, by the middle of its foot.
package struct ArrowLabel: Sendable {
  let text: String
  let x: Double
  package var y: Double

  /// About what a letter of the drawing's font takes; a wide one more, and a narrow one less.
  private static let letter = 6.6
  static let height = 14.0
  private var width: Double { Double(text.count) * Self.letter + 6 }

  /// Describes a label where it would like to be.
  package init(text: String, x: Double, y: Double) {
    self.text = text
    self.x = x
    self.y = y
  }

  /// Whether one covers a part of the other.
  package func overlaps(_ other: ArrowLabel) -> Bool {
    abs(x - other.x) < (width + other.width) / 2 && abs(y - other.y) < Self.height
  }

  /// The labels, each moved down until it covers none of those before it.
  package static func apart(_ labels: [ArrowLabel]) -> [ArrowLabel] {
    var placed: [ArrowLabel] = []
    for label in labels {
      var label = label
      // Each step passes one of the others for good.
      while let other = placed.filter({ label.overlaps($0) }).max(by: { $0.y < $1.y }) {
        label.y = other.y + Self.height
      }
      placed.append(label)
    }
    return placed
  }
}
