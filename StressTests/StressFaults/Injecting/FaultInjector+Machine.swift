import CFaultVFS
import Foundation
import Glibc

extension FaultInjector {
  /// Faults that the file system of the processes plays.
  func setRule(_ event: FaultEvent) async -> Outcome {
    guard let rule = FaultControl.Rule(event) else { return .none("there is no rule for it") }
    let slot = slot(of: event)
    control.set(rule, for: slot)
    await last(event)
    let strikes = control.clear(rule.kind, for: slot)
    return Outcome(didStrike: strikes > 0, text: "\(strikes) times \(rule.text)")
  }

  func fillDisk(_ event: FaultEvent) async -> Outcome {
    // Half of them in one way, half in the other: the file system also tells how often it refused.
    guard let disk, event.value % 2 == 0 else { return await setRule(event) }
    let isFull = disk.fill()
    await last(event)
    disk.empty()
    return isFull ? Outcome(text: "a disk in memory had no room") : .none("it could not be filled")
  }

  /// Watches are only asked for when something changes; replacing the lock file is such a change.
  func refuseWatches(_ event: FaultEvent) async -> Outcome {
    guard let rule = FaultControl.Rule(event) else { return .none("there is no rule for it") }
    let slot = slot(of: event)
    control.set(rule, for: slot)
    if let bytes = FileManager.default.contents(atPath: lockFile) {
      _ = LockFileTampering.replace(lockFile, with: Array(bytes))
    }
    await last(event)
    let strikes = control.clear(rule.kind, for: slot)
    return Outcome(
      didStrike: strikes > 0,
      text:
        "\(strikes) instances or watches were refused; the lock file was replaced, so that they "
        + "were asked for")
  }

  /// The clock belongs to the machine, so all processes see it step.
  func stepClock(_ event: FaultEvent) async -> Outcome {
    let seconds = [1, 90, 3600, 86_400, 40 * 86_400][(event.value / 2) % 5]
    let step = event.value % 2 == 0 ? seconds : -seconds
    let index = slot(of: event).index
    _ = fault_clock_set(control.pointer, index, Int64(step) * 1_000_000_000)
    await last(event)
    let strikes = fault_clock_set(control.pointer, index, 0)
    return Outcome(
      didStrike: strikes > 0, text: "\(step) s and back; asked \(strikes) times meanwhile")
  }
}

extension FaultControl.Rule {
  fileprivate var text: String {
    func names(_ bits: UInt32, _ all: [(UInt32, String)]) -> String {
      all.filter { bits & $0.0 != 0 }.map(\.1).joined(separator: ", ")
    }
    let accesses = names(
      accesses,
      [
        (FAULT_READ.rawValue, "read"), (FAULT_WRITE.rawValue, "write"),
        (FAULT_TRUNCATE.rawValue, "truncate"), (FAULT_SYNC.rawValue, "sync"),
        (FAULT_SHARED_MEMORY.rawValue, "shared memory"), (FAULT_OPEN.rawValue, "open"),
      ])
    let files = names(
      files,
      [
        (FAULT_DATABASE.rawValue, "database"), (FAULT_LOG.rawValue, "log"),
        (FAULT_OTHER.rawValue, "other"),
      ])
    return "(\(accesses) of \(files))"
  }
}
