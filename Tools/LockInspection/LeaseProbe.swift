import SharedFileCoordination

/// What asking for the write lease came to.
package struct ProbeResult: Codable, Sendable, Equatable {
  package var version = Inspection.formatVersion
  package var path: String
  package var outcome: Outcome
  package var waitedSeconds: Double
  package var boundSeconds: Double
  /// Who had the lease when the time was up.
  package var holder: ProcessReference?
  /// All of this in a sentence.
  package var text: String

  /// How it ended.
  package enum Outcome: String, Codable, Sendable {
    case acquired
    case timedOut = "timed_out"
    case failed
  }

  /// The number that the program ends with.
  package var exitStatus: Int32 {
    switch outcome {
    case .acquired: 0
    case .timedOut: 1
    case .failed: 2
    }
  }
}

/// Takes a write lease as a writer would, and gives it back at once.
///
/// The one thing here that takes a lock: it has a slot while it lasts and a place in line, writes nothing
/// to the database and rings no bell. A lock file is not made where there is none.
package enum LeaseProbe {
  /// Asks for the write leases of databases, one after the other.
  package static func probe(_ arguments: [String], bound: Duration) -> [ProbeResult] {
    arguments.flatMap { argument -> [ProbeResult] in
      do throws(FindingFailure) {
        return try DatabaseFinder.databases(named: argument).map { probe($0, bound: bound) }
      } catch {
        return [result(argument, .failed, bound, .zero, error.description)]
      }
    }
  }

  private static func probe(_ path: String, bound: Duration) -> ProbeResult {
    let report = LockReport.of(databasePath: path, includesKernelLocks: false)
    guard report.condition == .good else {
      return result(
        path, .failed, bound, .zero,
        "cannot be probed: \(report.problem ?? "the lock file is no good")")
    }
    let started = BootClock.now()
    do throws(CoordinationError) {
      let file = try CoordinationFile(
        databasePath: path, options: CoordinationOptions(label: "boutique-locks --probe"))
      defer { file.close() }
      if let reason = file.degradedReason { return result(path, .failed, bound, .zero, reason) }
      let turn = try file.writeLease.acquire(
        deadline: started.advanced(by: bound), purpose: "probe", isCancelled: { false })
      let waited = started.duration(to: BootClock.now())
      let isDegraded = turn.isDegraded
      turn.finish()
      if isDegraded {
        return result(path, .failed, bound, waited, "the lock file was lost meanwhile")
      }
      return result(
        path, .acquired, bound, waited,
        "a write came to its turn after \(Wording.time(waited.seconds))")
    } catch {
      let waited = started.duration(to: BootClock.now())
      guard case .leaseTimeout(let timeout) = error else {
        return result(path, .failed, bound, waited, error.description)
      }
      var failure = result(
        path, .timedOut, bound, waited,
        "no turn within \(Wording.time(bound.seconds)). \(timeout.description)")
      failure.holder = timeout.holder.map {
        ProcessReference(pid: $0.pid, label: $0.label, state: $0.state)
      }
      return failure
    }
  }

  private static func result(
    _ path: String, _ outcome: ProbeResult.Outcome, _ bound: Duration, _ waited: Duration,
    _ text: String
  ) -> ProbeResult {
    ProbeResult(
      path: path, outcome: outcome, waitedSeconds: waited.seconds, boundSeconds: bound.seconds,
      text: text)
  }
}
