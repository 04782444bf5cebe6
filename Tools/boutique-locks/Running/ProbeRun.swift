import CommandLineSupport
import LockInspection

/// `--probe`: whether a write would come to its turn within the bound.
enum ProbeRun {
  static func run(
    _ operands: [String], _ settings: LocksCommand.Settings, _ context: LocksContext
  ) throws -> Int32 {
    guard !operands.isEmpty else {
      throw UsageError.other("--probe takes a lock, so it has to be told of which DB")
    }
    var status: Int32 = 0
    for result in LeaseProbe.probe(operands, bound: settings.bound) {
      let line =
        settings.form == .json
        ? JSONReport.text(result) : "\(result.path.visible()): \(result.text.visible())"
      try context.output.write(line + "\n")
      status = max(status, result.exitStatus)
    }
    return status
  }
}
