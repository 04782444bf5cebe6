/// A position in a database's change log.
///
/// Tokens of one file are ordered as its commits are, survive restarts, and never start again. The
/// generation tells one file from another: a token of a replaced file continues nothing.
///
/// Two tokens are equal when they name the same commit; what they know beside it is not compared.
public struct ChangeToken: Sendable, Codable {
  /// Which file: a random text made with its change log.
  public let generation: String
  /// The number of the commit's last change.
  public let number: Int64
  /// The commit's time in milliseconds since 1970.
  ///
  /// It tells the commit from one of the same number in another history: a file restored from a backup goes
  /// on with the same generation and numbers. Zero where the log is empty; nil when it is not known, and
  /// then not compared.
  public let stamp: Int64?
  /// The WAL index's change counter up to which every commit of anyone is accounted for.
  ///
  /// With the continuity it proves, where it can, that no program without this library has committed
  /// since; a token without them is as good, but may be resumed with one change that says everything.
  package let counter: UInt32?
  /// The continuity in which ``counter`` means something.
  package let continuity: Int64?

  /// Creates a token from its parts, as one that was stored elsewhere.
  public init(generation: String, number: Int64, stamp: Int64? = nil) {
    self.init(
      generation: generation, number: number, stamp: stamp, counter: nil, continuity: nil)
  }

  /// Creates a token with all that can be known.
  package init(
    generation: String, number: Int64, stamp: Int64?, counter: UInt32?, continuity: Int64?
  ) {
    self.generation = generation
    self.number = number
    self.stamp = stamp
    // One means nothing without the other; a database in memory has no counter.
    self.counter = continuity == nil ? nil : counter
    self.continuity = continuity
  }
}

extension ChangeToken: Hashable {
  /// Whether both name the same commit of the same file.
  public static func == (a: ChangeToken, b: ChangeToken) -> Bool {
    a.number == b.number && a.generation == b.generation && a.stamp == b.stamp
  }

  /// Feeds what ``==(_:_:)`` compares into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(generation)
    hasher.combine(stamp)
  }
}

extension ChangeToken: LosslessStringConvertible {
  /// Creates a token from the text that ``description`` gives; nil for any other.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard [2, 3, 5].contains(parts.count), !parts[0].isEmpty, let number = Int64(parts[1]),
      number >= 0
    else { return nil }
    let stamp = parts.count > 2 ? Int64(parts[2]) : nil
    guard parts.count == 2 || (stamp ?? -1) >= 0 else { return nil }
    var counter: UInt32?
    var continuity: Int64?
    if parts.count == 5 {
      counter = UInt32(parts[3])
      continuity = Int64(parts[4])
      guard counter != nil || parts[3].isEmpty, (continuity ?? 0) > 0 else { return nil }
    }
    self.init(
      generation: String(parts[0]), number: number, stamp: stamp, counter: counter,
      continuity: continuity)
  }

  /// The token as text, to be stored: its parts with hyphens between.
  ///
  /// Generation, number, stamp; where they are known, change counter and continuity.
  public var description: String {
    guard let stamp else { return "\(generation)-\(number)" }
    guard let continuity else { return "\(generation)-\(number)-\(stamp)" }
    return "\(generation)-\(number)-\(stamp)-\(counter.map { "\($0)" } ?? "")-\(continuity)"
  }
}

extension ChangeToken {
  init(_ position: LogPosition) {
    self.init(
      generation: position.generation, number: position.token, stamp: position.stamp,
      counter: position.counter, continuity: position.continuity)
  }
}
