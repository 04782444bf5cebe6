import Foundation

/// Puts values of a range on a line of a drawing.
struct Scale {
  enum Kind {
    case linear
    /// Each doubling takes the same room; only above 0.
    case logarithmic
  }

  let kind: Kind
  let values: ClosedRange<Double>
  /// Where the least and the greatest value are; the former is the greater number on upright axes.
  let start: Double
  let end: Double

  init(_ kind: Kind, values: ClosedRange<Double>, from start: Double, to end: Double) {
    self.kind = kind
    let low = kind == .logarithmic ? max(values.lowerBound, 1e-12) : values.lowerBound
    // A range of one value would have no length.
    let high = values.upperBound > low ? values.upperBound : low + (low == 0 ? 1 : abs(low))
    self.values = low...high
    self.start = start
    self.end = end
  }

  func place(_ value: Double) -> Double {
    let value = min(max(value, values.lowerBound), values.upperBound)
    let part =
      switch kind {
      case .linear:
        (value - values.lowerBound) / (values.upperBound - values.lowerBound)
      case .logarithmic:
        log(value / values.lowerBound) / log(values.upperBound / values.lowerBound)
      }
    return start + part * (end - start)
  }

  /// Round values for marks, about as many as wished, all in the range.
  func marks(about wished: Int, steps: [Double] = [1, 2, 5]) -> [Double] {
    switch kind {
    case .linear: linearMarks(wished, steps)
    case .logarithmic: logarithmicMarks(wished)
    }
  }

  private func linearMarks(_ wished: Int, _ steps: [Double]) -> [Double] {
    let rough = (values.upperBound - values.lowerBound) / Double(max(1, wished))
    let power = pow(10, floor(log10(rough)))
    let step = (steps.map { $0 * power } + [10 * power]).first { $0 >= rough * 0.999 } ?? rough
    var marks: [Double] = []
    var number = (values.lowerBound / step - 1e-9).rounded(.up)
    while number * step <= values.upperBound * (1 + 1e-9), marks.count < 100 {
      marks.append(number * step)
      number += 1
    }
    return marks
  }

  /// Powers of ten; where they are few, twice and five times of them too; where they are many, only some.
  private func logarithmicMarks(_ wished: Int) -> [Double] {
    let low = Int(floor(log10(values.lowerBound) + 1e-9))
    let high = Int(ceil(log10(values.upperBound) - 1e-9))
    let decades = (low...max(low, high)).map { pow(10, Double($0)) }
    func within(_ marks: [Double]) -> [Double] {
      marks.filter {
        $0 >= values.lowerBound * (1 - 1e-9) && $0 <= values.upperBound * (1 + 1e-9)
      }
    }
    let all = within(decades)
    if all.count > wished + 1 {
      let stride = (all.count + wished - 1) / wished
      return all.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
    }
    if all.count >= 3 { return all }
    let more = within(decades.flatMap { [$0, 2 * $0, 5 * $0] })
    return more.count <= wished + 2 ? more : within(decades.flatMap { [$0, 3 * $0] })
  }
}
