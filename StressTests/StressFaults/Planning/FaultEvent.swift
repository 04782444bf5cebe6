import StressHistory

/// One fault of a plan.
package struct FaultEvent: Codable, Hashable, Sendable {
  package var kind: FaultKind
  /// When it begins, in seconds from the start of the work.
  package var time: Double
  /// How long it lasts, in seconds; 0 for what happens in a moment.
  package var duration: Double
  /// The place in the run of the process that it is for; `nil` when it is for all.
  package var target: Int?
  /// A number that the kind makes something of: which place, which access, how many bytes.
  package var value: Int

  /// Describes a fault.
  package init(
    kind: FaultKind, time: Double, duration: Double = 0, target: Int? = nil, value: Int = 0
  ) {
    self.kind = kind
    self.time = time
    self.duration = duration
    self.target = target
    self.value = value
  }
}

extension FaultEvent: CustomStringConvertible {
  /// What it is, in words: "pause of process 2 for 0.3 s".
  package var description: String {
    var text = kind.words
    if let target { text += " of process \(target)" }
    // By whole hundredths, so that no number has a tail.
    if duration > 0 { text += " for \(Double((duration * 100).rounded().whole) / 100) s" }
    return text
  }
}

/// A fault as it happened.
package struct FaultRecord: Codable, Hashable, Sendable {
  package var event: FaultEvent
  /// When it began, in nanoseconds of the monotonic clock.
  package var began: Int64
  /// When it was over.
  package var ended: Int64
  /// Whether it struck: a kill at a place that was not reached has not.
  package var didStrike: Bool
  /// What there is to say of it.
  package var text: String

  /// Describes what happened.
  package init(
    event: FaultEvent, began: Int64, ended: Int64, didStrike: Bool = true, text: String = ""
  ) {
    self.event = event
    self.began = began
    self.ended = ended
    self.didStrike = didStrike
    self.text = text
  }
}
