/// What each place of a run got done: bars with names where there are few, columns where there are many.
enum FairnessChart {
  private static let width = PageStyle.chartWidth
  private static let most = 16

  static func html(_ figures: RunFigures, placesKnown: Bool) -> String {
    guard figures.places.count > 1, figures.outcomes.all > 0 else { return "" }
    let name = placesKnown ? "place" : "process"
    let canvas =
      figures.places.count <= most ? bars(figures.places, name) : columns(figures.places, name)
    let fairness = figures.fairness.map { ", evenness \(Canvas.hundredths($0))" } ?? ""
    return TimeCharts.card(
      "Operations done by each \(name)\(fairness)", key: [], canvas)
  }

  private static func bars(_ places: [RunFigures.Place], _ name: String) -> Canvas {
    let row = 34.0
    var canvas = Canvas(
      width: width, height: Double(places.count) * row + 6, title: "operations by \(name)")
    let greatest = Double(max(1, places.map(\.outcomes.done).max() ?? 1))
    let scale = Scale(.linear, values: 0...greatest, from: 0, to: width - 4)
    for (index, place) in places.enumerated() {
      let y = Double(index) * row
      canvas.text("\(name) \(place.number)\(starts(place))", x: 0, y: y + 16, "soft")
      canvas.text(
        FigureText.count(place.outcomes.done), x: width - 4, y: y + 16, anchor: .end)
      canvas.rectangle(x: 0, y: y + 22, width: width - 4, height: 6, "band", corner: 2)
      canvas.rectangle(
        x: 0, y: y + 22, width: scale.place(Double(place.outcomes.done)), height: 6, "fill-blue",
        tip: tip(place, name), corner: 2)
    }
    return canvas
  }

  private static func columns(_ places: [RunFigures.Place], _ name: String) -> Canvas {
    let (left, top, height) = (70.0, 10.0, 130.0)
    var canvas = Canvas(width: width, height: top + height + 26, title: "operations by \(name)")
    let greatest = Double(max(1, places.map(\.outcomes.done).max() ?? 1))
    let scale = Scale(.linear, values: 0...greatest * 1.05, from: top + height, to: top)
    for mark in scale.marks(about: 4) {
      canvas.line(left, scale.place(mark), width - 4, scale.place(mark), "grid")
      canvas.text(
        FigureText.short(mark), x: left - 6, y: scale.place(mark) + 4, "soft", anchor: .end)
    }
    let step = (width - 4 - left) / Double(places.count)
    for (index, place) in places.enumerated() {
      let y = scale.place(Double(place.outcomes.done))
      canvas.rectangle(
        x: left + Double(index) * step, y: y, width: max(0.5, step - 1), height: top + height - y,
        "fill-blue", tip: tip(place, name))
    }
    canvas.line(left, top + height, width - 4, top + height, "axis")
    if let first = places.first, let last = places.last {
      canvas.text("\(name) \(first.number)", x: left, y: top + height + 19, "soft")
      canvas.text(
        "\(name) \(last.number)", x: width - 4, y: top + height + 19, "soft", anchor: .end)
    }
    return canvas
  }

  private static func starts(_ place: RunFigures.Place) -> String {
    place.starts > 1 ? ", \(place.starts) starts" : ""
  }

  private static func tip(_ place: RunFigures.Place, _ name: String) -> String {
    "\(name) \(place.number): \(FigureText.count(place.outcomes.done)) done, "
      + "\(place.outcomes.refused) refused, \(place.outcomes.unknown) unknown\(starts(place)); "
      + "longest wait for the lock \(FigureText.time(place.lockWait.greatest))"
  }
}
