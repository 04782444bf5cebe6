import CommandLineSupport
import Foundation

/// One run of a subcommand: its directory, its order, its workers' keeper.
///
/// Used by the coordinator's thread alone.
final class BenchRun {
  /// The directory of the run, resolved.
  let directory: String
  /// What decides the order of the measurements.
  let seed: UInt64
  let rounds: Int
  let timeout: Duration
  let keeper: RunGuard
  private let output: BenchOutput
  private var generator: SeededGenerator
  private var databaseCount = 0

  init(_ settings: CommonSettings, _ output: BenchOutput) throws {
    let base = settings.directory ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    keeper = RunGuard()
    directory = URL(filePath: try keeper.makeDirectory(under: base)).resolvingSymlinksInPath()
      .path(percentEncoded: false)
    seed = settings.seed ?? UInt64.random(in: 0...0xFFFF_FFFF)
    generator = SeededGenerator(seed: seed)
    rounds = settings.rounds
    timeout = .milliseconds(Int64(settings.timeout * 1000))
    self.output = output
  }

  /// Returns a random order of variants, another each time.
  func shuffled<Variant>(_ variants: [Variant]) -> [Variant] {
    variants.shuffled(using: &generator)
  }

  /// Gives a measurement the path of a new database, and removes what is there afterwards.
  func withDatabase<Result>(_ body: (_ path: String) throws -> Result) throws -> Result {
    databaseCount += 1
    let place = "\(directory)/\(databaseCount)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: place) }
    return try body("\(place)/bench.db")
  }

  /// Tells a person at a terminal what is being measured.
  func progress(_ text: String) { output.progress(text) }
}
