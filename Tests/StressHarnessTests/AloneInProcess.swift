import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs a suite only where nothing else runs in the process.
  ///
  /// They start processes by the dozen, kill them and fill disks; others would take a loaded machine for a
  /// fault. `Tools/test` runs these suites a second time, in a process of their own.
  static var aloneInProcess: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["BOUTIQUE_TESTS_ALONE"] == "1",
      "needs a process of its own: Tools/test sees to that")
  }
}
