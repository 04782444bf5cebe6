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
  /// Stands before what a person at a terminal is told.
  private let name: String
  private var generator: SeededGenerator
  private var databaseCount = 0
  private var partCount = 0
  /// Begins the names of a part's databases.
  private var part = ""

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
    name = ""
  }

  /// A part of a run: its databases, order and keeper are the run's.
  init(partOf run: BenchRun, named name: String) {
    keeper = run.keeper
    seed = run.seed
    generator = run.generator
    rounds = run.rounds
    timeout = run.timeout
    output = run.output
    directory = run.directory
    self.name = name + ", "
    run.partCount += 1
    part = "\(run.partCount)-"
  }

  /// Returns a random order of variants, another each time.
  func shuffled<Variant>(_ variants: [Variant]) -> [Variant] {
    variants.shuffled(using: &generator)
  }

  /// Gives a measurement the path of a new database, and removes what is there afterwards.
  func withDatabase<Result>(_ body: (_ path: String) throws -> Result) throws -> Result {
    databaseCount += 1
    let place = "\(directory)/\(part)\(databaseCount)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: place) }
    return try body("\(place)/bench.db")
  }

  /// Tells a person at a terminal what is being measured.
  func progress(_ text: String) { output.progress(name + text) }
}
