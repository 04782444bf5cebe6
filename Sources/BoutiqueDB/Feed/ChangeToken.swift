/// A position in a database's change log.
///
/// Tokens of one file are ordered as its commits are, survive restarts, and never start again. The
/// generation tells one file from another: a token of a replaced file continues nothing.
public struct ChangeToken: Hashable, Sendable, Codable {
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

  /// Creates a token from its parts, as one that was stored elsewhere.
  public init(generation: String, number: Int64, stamp: Int64? = nil) {
    self.generation = generation
    self.number = number
    self.stamp = stamp
  }
}

extension ChangeToken: LosslessStringConvertible {
  /// Creates a token from the text that ``description`` gives; nil for any other.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), !parts[0].isEmpty, let number = Int64(parts[1]),
      number >= 0
    else { return nil }
    let stamp = parts.count == 3 ? Int64(parts[2]) : nil
    guard parts.count == 2 || (stamp ?? -1) >= 0 else { return nil }
    self.init(generation: String(parts[0]), number: number, stamp: stamp)
  }

  /// The token as text, to be stored: generation, number and stamp with hyphens between.
  public var description: String {
    "\(generation)-\(number)" + (stamp.map { "-\($0)" } ?? "")
  }
}

extension ChangeToken {
  init(_ position: LogPosition) {
    self.init(generation: position.generation, number: position.token, stamp: position.stamp)
  }
}
