import Foundation
import ProcessHarness

/// What can be said of a process that does not end.
enum StuckProcess {
  /// Who holds and who waits for which lock of the run's database, as `boutique-locks` sees it, where that
  /// program lies beside ours.
  static func locks(of run: RunContext) async -> String {
    let program =
      URL(filePath: run.program).deletingLastPathComponent().path + "/boutique-locks"
    guard FileManager.default.isExecutableFile(atPath: program) else { return "" }
    let lines = try? await withChildProcesses { children in
      let child = try await children.start(ChildCommand(program, [run.database]))
      _ = try await child.exit(within: .seconds(20))
      return child.takeLines()
    }
    return lines?.joined(separator: "\n") ?? ""
  }
}
