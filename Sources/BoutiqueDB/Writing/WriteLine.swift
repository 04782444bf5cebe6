/// The order of a process's waiting writes, as a pure machine.
///
/// Each write has a rank: a normal one the time of its arrival, a background one that time and the ageing
/// span. Lower ranks go first. So a background write yields to whoever comes before its span is over, and
/// to nobody who comes later: it cannot starve. Ranks of one priority are in order of arrival, so two plain
/// queues do, and a look at their heads.
struct WriteLine<Element> {
  /// One write in line.
  struct Place {
    var element: Element
    var rank: MonotonicTime
  }

  private var normal = Queue()
  private var background = Queue()

  var isEmpty: Bool { normal.isEmpty && background.isEmpty }
  var count: Int { normal.count + background.count }

  /// Adds an element behind those of its priority.
  mutating func append(_ element: Element, _ priority: WritePriority, rank: MonotonicTime) {
    let place = Place(element: element, rank: rank)
    if priority == .normal { normal.append(place) } else { background.append(place) }
  }

  /// The element whose turn it is.
  var first: Element? {
    (takesBackground ? background.first : normal.first)?.element
  }

  /// When the first one counts as normal, if it is a background one.
  var firstYieldsUntil: MonotonicTime? {
    takesBackground ? background.first?.rank : nil
  }

  /// Takes out the element whose turn it is.
  mutating func removeFirst() -> Element? {
    takesBackground ? background.removeFirst()?.element : normal.removeFirst()?.element
  }

  /// Everybody in line, in no particular order.
  var all: [Element] { normal.all.map(\.element) + background.all.map(\.element) }

  /// Empties the line.
  mutating func removeAll() {
    normal = Queue()
    background = Queue()
  }

  private var takesBackground: Bool {
    guard let back = background.first else { return false }
    guard let front = normal.first else { return true }
    return back.rank < front.rank
  }

  /// An array that is cheap to take from at its beginning.
  private struct Queue {
    private var places: [Place?] = []
    private var head = 0

    var isEmpty: Bool { head == places.count }
    var count: Int { places.count - head }
    var first: Place? { isEmpty ? nil : places[head] }
    var all: [Place] { places[head...].compactMap(\.self) }

    mutating func append(_ place: Place) { places.append(place) }

    mutating func removeFirst() -> Place? {
      guard !isEmpty else { return nil }
      let place = places[head]
      // Lets go of the element now; the room follows when half of it is empty.
      places[head] = nil
      head += 1
      if head == places.count {
        places.removeAll(keepingCapacity: places.capacity <= 1024)
        head = 0
      } else if head >= 32, head * 2 >= places.count {
        places.removeFirst(head)
        head = 0
      }
      return place
    }
  }
}
