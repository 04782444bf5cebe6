import SharedFileCoordination

extension Inspection {
  /// The same without the times that move on by themselves, to tell whether anything else is different.
  package var withoutTimes: Inspection {
    var copy = self
    copy.time = ""
    copy.databases = databases.map(\.withoutTimes)
    copy.waits = waits.map { wait in
      var wait = wait
      wait.seconds = nil
      return wait
    }
    copy.cycles = cycles.map { $0.map(\.withoutActivity) }
    return copy
  }
}

extension DatabaseInspection {
  fileprivate var withoutTimes: DatabaseInspection {
    var copy = self
    copy.writeLease?.heldForSeconds = nil
    copy.migrationLease?.heldForSeconds = nil
    for index in copy.processes.indices {
      copy.processes[index].openForSeconds = nil
      copy.processes[index].runningForSeconds = nil
      copy.processes[index].state = copy.processes[index].reference.withoutActivity.state
    }
    for index in copy.queue.indices { copy.queue[index].waitingForSeconds = 0 }
    for index in copy.changes?.consumers.indices ?? 0..<0 {
      copy.changes?.consumers[index].lastSeenSecondsAgo = nil
    }
    // Their kinds are enough: their texts tell times.
    for index in copy.findings.indices { copy.findings[index].text = "" }
    copy.writeLease?.holder = writeLease?.holder?.withoutActivity
    copy.migrationLease?.holder = migrationLease?.holder?.withoutActivity
    for index in copy.queue.indices {
      copy.queue[index].process = queue[index].process.withoutActivity
    }
    for index in copy.sqliteLocks.indices {
      copy.sqliteLocks[index].process = sqliteLocks[index].process?.withoutActivity
    }
    for index in copy.log?.readers.indices ?? 0..<0 {
      copy.log?.readers[index].process = log?.readers[index].process?.withoutActivity
    }
    return copy
  }
}

extension ProcessReference {
  /// Running and sleeping change all the time and mean the same here.
  fileprivate var withoutActivity: ProcessReference {
    var copy = self
    if copy.state == .running { copy.state = .sleeping }
    return copy
  }
}
