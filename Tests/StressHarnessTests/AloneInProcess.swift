import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs a suite only where nothing else runs in the process.
  ///
  /// libinotifytools is one per process, a fork copies whatever the other threads are doing, and a pipe
  /// to a child is inherited by the children of others. `Tools/test` runs these suites a second time, in
  /// a process of their own.
  static var aloneInProcess: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["BOUTIQUE_TESTS_ALONE"] == "1",
      "needs a process of its own: Tools/test sees to that")
  }
}
