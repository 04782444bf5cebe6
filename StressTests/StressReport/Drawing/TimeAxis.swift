import Foundation
import StressFaults
import StressHistory

/// The time of a run, on which several drawings stand one below the other.
struct TimeAxis {
  private let scale: Scale
  private let seconds: Double
  private let slotSeconds: Double
  private let began: Int64
  /// When lasting faults were at work, as far as that can be told apart in a drawing.
  private let bands: [(from: Double, to: Double)]

  private static let left = 70.0
  private static let right = PageStyle.chartWidth - 16
  private static let top = 10.0
  private static let foot = 26.0

  init(_ run: SavedRun) {
    // Longer than any run; a file may say anything.
    seconds = min(max(run.figures.seconds, 0.001), 1e12)
    slotSeconds = min(max(run.figures.slotSeconds, 0.001), 1e12)
    began = run.began
    scale = Scale(.linear, values: 0...seconds, from: Self.left, to: Self.right)
    let (scale, began) = (scale, began)
    let lasting = run.faults.filter { $0.didStrike && $0.event.duration > 0 }.map { record in
      (
        from: scale.place(Double(record.began.minus(began)) / 1e9),
        to: scale.place(Double(record.ended.minus(began)) / 1e9)
      )
    }
    bands = Self.joined(lasting)
  }

  /// Spans that overlap, or nearly do, made into one.
  private static func joined(
    _ spans: [(from: Double, to: Double)]
  ) -> [(from: Double, to: Double)] {
    var joined: [(from: Double, to: Double)] = []
    for span in spans.sorted(by: { $0.from < $1.from }) {
      if let last = joined.last, span.from - last.to < 1 {
        joined[joined.count - 1].to = max(last.to, span.to)
      } else {
        joined.append(span)
      }
    }
    return joined
  }

  /// A drawing with both axes and nothing in it yet, and its upright scale.
  func chart(
    title: String, height: Double, _ kind: Scale.Kind, values: ClosedRange<Double>,
    label: (Double) -> String
  ) -> (Canvas, Scale) {
    var canvas = Canvas(
      width: PageStyle.chartWidth, height: Self.top + height + Self.foot, title: title)
    let upright = Scale(kind, values: values, from: Self.top + height, to: Self.top)
    for band in bands {
      canvas.rectangle(
        x: band.from, y: Self.top, width: max(1, band.to - band.from), height: height, "band")
    }
    for mark in upright.marks(about: 4) {
      let y = upright.place(mark)
      canvas.line(Self.left, y, Self.right, y, "grid")
      canvas.text(label(mark), x: Self.left - 6, y: y + 4, "soft", anchor: .end)
    }
    addTime(to: &canvas, y: Self.top + height)
    return (canvas, upright)
  }

  /// The horizontal axis with its marks.
  private func addTime(to canvas: inout Canvas, y: Double) {
    canvas.line(Self.left, y, Self.right, y, "axis")
    for mark in marks {
      let x = scale.place(mark)
      canvas.line(x, y, x, y + 4, "axis")
      canvas.text(
        seconds < 120 ? "\(Canvas.text(mark)) s" : FigureText.clock(mark), x: x, y: y + 19,
        "soft", anchor: x > Self.right - 24 ? .end : .middle)
    }
  }

  private var marks: [Double] {
    if seconds < 120 { return scale.marks(about: 5) }
    let steps: [Double] = [30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200, 86_400]
    let step = steps.first { seconds / $0 <= 5.5 } ?? seconds
    return stride(from: 0, through: seconds, by: step).map(\.self)
  }

  /// Where the middle of a slot is.
  func middle(of slot: Int) -> Double { scale.place((Double(slot) + 0.5) * slotSeconds) }

  /// Where a slot begins and ends; the last one may be cut short by the run's end.
  func edges(of slot: Int) -> (left: Double, right: Double) {
    (scale.place(Double(slot) * slotSeconds), scale.place(Double(slot + 1) * slotSeconds))
  }

  /// How long a slot really is, in seconds.
  func length(of slot: Int) -> Double {
    max(0.001, min(slotSeconds, seconds - Double(slot) * slotSeconds))
  }

  // MARK: Faults

  /// One line for each kind of faults, with what was tried and what struck.
  func faultChart(_ faults: [FaultRecord]) -> Canvas {
    let kinds = FaultKind.allCases.compactMap { kind in
      let records = faults.filter { $0.event.kind == kind }
      return records.isEmpty ? nil : (kind, records)
    }
    let laneHeight = 36.0
    let height = Double(kinds.count) * laneHeight
    var canvas = Canvas(
      width: PageStyle.chartWidth, height: height + Self.foot + 4, title: "faults over time")
    for (lane, (kind, records)) in kinds.enumerated() {
      let y = Double(lane) * laneHeight
      let struck = records.count { $0.didStrike }
      canvas.text(
        "\(kind.rawValue): "
          + (struck == records.count ? "\(struck)" : "\(struck) of \(records.count) struck"),
        x: Self.left, y: y + 16, "soft")
      canvas.line(Self.left, y + 27, Self.right, y + 27, "grid")
      for mark in marksOnLine(records) {
        canvas.rectangle(
          x: mark.from, y: y + 22, width: max(2, mark.to - mark.from), height: 10,
          mark.didStrike ? (mark.isLasting ? "fill-orange" : "fill-red") : "missed",
          tip: mark.tip)
      }
    }
    addTime(to: &canvas, y: height + 2)
    return canvas
  }

  private struct LineMark {
    var from: Double
    var to: Double
    let didStrike: Bool
    let isLasting: Bool
    var count = 1
    let first: String
    var tip: String { count == 1 ? first : "\(first), and \(count - 1) more" }
  }

  /// What cannot be told apart in the drawing is one mark, so that a million faults draw as quickly as ten.
  private func marksOnLine(_ records: [FaultRecord]) -> [LineMark] {
    var marks: [LineMark] = []
    for record in records.sorted(by: { $0.began < $1.began }) {
      let start = Double(record.began.minus(began)) / 1e9
      let from = scale.place(start)
      let isLasting = record.event.duration > 0
      let to = isLasting ? scale.place(Double(record.ended.minus(began)) / 1e9) : from
      if let last = marks.last, last.didStrike == record.didStrike,
        last.isLasting == isLasting, from - max(last.to, last.from + 2) < 0.5
      {
        marks[marks.count - 1].to = max(last.to, to)
        marks[marks.count - 1].count += 1
        continue
      }
      let place = record.event.target.map { ", place \($0)" } ?? ""
      let length =
        isLasting ? " for \(FigureText.time(max(0, record.ended.minus(record.began))))" : ""
      let text = record.text.isEmpty ? "" : ": \(record.text)"
      marks.append(
        LineMark(
          from: from, to: to, didStrike: record.didStrike, isLasting: isLasting,
          first: "\(Canvas.text(start)) s\(length)\(place)\(text)"))
    }
    return marks
  }
}
