import StressFaults
import StressReport

extension RunContext {
  /// Whether what was acknowledged may be gone at the end: without a sync at each commit a power cut takes what
  /// was not synced.
  var mayForget: Bool {
    plan.faults.contains(.powerCut) && !["full", "extra"].contains(plan.synchronous)
  }
}
