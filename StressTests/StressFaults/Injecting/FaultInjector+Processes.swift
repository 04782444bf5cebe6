import CFaultVFS
import FaultPoints
import Foundation
import Glibc
import ProcessHarness

extension FaultInjector {
  /// Has a process killed when it comes to a place; when it does not come there, to one that this run's
  /// processes do come to.
  func killAtPoint(_ event: FaultEvent) async -> Outcome {
    var value = Digits(event.value)
    let places = FaultPlace.all
    let first = places[value.next(of: places.count)]
    let countdown = 1 + value.next(of: 4)
    if let point {
      return await kill(at: .point(point), countdown, event, for: event.duration)
        ? Outcome(text: "at \(point.rawValue)") : .none("\(point.rawValue) was not reached")
    }
    if await kill(at: first, countdown, event, for: event.duration * 0.6) {
      return Outcome(text: "at \(first.name)")
    }
    let visited = FaultPoint.allCases.filter { control.reached($0) > 0 }.map(FaultPlace.point)
    guard !visited.isEmpty else { return .none("\(first.name) was not reached") }
    let second = visited[value.next(of: visited.count)]
    if await kill(at: second, 1, event, for: event.duration * 0.4) {
      return Outcome(text: "at \(second.name); \(first.name) was not reached")
    }
    return .none("neither \(first.name) nor \(second.name) was reached")
  }

  private func kill(
    at place: FaultPlace, _ countdown: Int, _ event: FaultEvent, for seconds: Double
  ) async -> Bool {
    let slot = slot(of: event)
    control.arm(place, countdown: countdown, for: slot)
    let end = ContinuousClock.now.advanced(by: .seconds(seconds))
    while !control.hasStruck(place, for: slot), ContinuousClock.now < end {
      guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { break }
    }
    control.disarm(place, for: slot)
    return control.hasStruck(place, for: slot)
  }

  func pause(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    guard let victim, victim.signal(0) else { return .none("the process was not there") }
    // One that another fault lets go on in between would never be seen to stand still.
    guard standing.insert(victim.processID).inserted else {
      return .none("the process stood still already")
    }
    defer { standing.remove(victim.processID) }
    await victim.stop()
    await last(event)
    victim.resume()
    return Outcome(text: "process \(victim.processID)")
  }

  func limitDescriptors(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    guard let victim, victim.signal(0) else { return .none("the process was not there") }
    // The limit is of the number that a new one would have, not of how many there are.
    let open = Set(OpenDescriptors.numbers(of: victim.processID))
    var next = 0
    while open.contains(next) { next += 1 }
    let room = event.value % 3
    guard
      let limit = ProcessLimit(
        victim.processID, ProcessLimit.descriptors, to: UInt64(next + room))
    else { return .none("the limit could not be set") }
    await last(event)
    limit.end()
    return Outcome(text: "room for \(room) besides the \(open.count) that were open")
  }

  /// Limits the size of files to what the log has.
  ///
  /// The limit is the process's, for all its files; what it writes its history to must not be met, so where that
  /// is larger the file system plays the limit.
  func limitFileSize(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    guard let victim, victim.signal(0) else { return .none("the process was not there") }
    var facts = stat()
    let size = stat(database + "-wal", &facts) == 0 ? UInt64(facts.st_size) : 0
    let limit = size + UInt64(event.value % 100_000)
    let slot = slot(of: event)
    let margin: UInt64 = 1 << 20
    let largest = OpenDescriptors.largestFile(of: victim.processID, besides: database)
    let real =
      largest == 0 || largest + margin < limit
      ? ProcessLimit(victim.processID, ProcessLimit.fileSize, to: limit) : nil
    control.set(
      .init(
        kind: FAULT_RULE_FILE_SIZE, accesses: FAULT_WRITE.rawValue,
        files: FAULT_LOG.rawValue | FAULT_DATABASE.rawValue, countdown: 0,
        parameter: limit << 1 | (real == nil ? 0 : 1)),
      for: slot)
    await last(event)
    real?.end()
    let strikes = control.clear(FAULT_RULE_FILE_SIZE, for: slot)
    return Outcome(
      didStrike: strikes > 0,
      text: "\(limit) bytes, \(real == nil ? "by the file system" : "by RLIMIT_FSIZE"); "
        + "\(strikes) writes beyond it")
  }

  func limitProcesses(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    guard let victim, victim.signal(0) else { return .none("the process was not there") }
    if geteuid() != 0 {
      guard let limit = ProcessLimit(victim.processID, ProcessLimit.processes, to: 1) else {
        return .none("the limit could not be set")
      }
      await last(event)
      limit.end()
      return Outcome(text: "RLIMIT_NPROC")
    }
    guard let group = ProcessGroupLimit(victim.processID) else {
      return .none("RLIMIT_NPROC does not bind root, and there is no control group to be had")
    }
    await last(event)
    let refusals = group.refusals
    group.end()
    return Outcome(
      didStrike: refusals > 0, text: "\(refusals) threads or processes were refused")
  }

  func overflow(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    guard let victim, victim.signal(0) else { return .none("the process was not there") }
    guard OpenDescriptors.hasWatch(victim.processID) else {
      return .none("the process does not listen to inotify")
    }
    // One after the other would keep the last ones stopped until all the others are done.
    guard !isFlooding else { return .none("another one was not over yet") }
    guard standing.insert(victim.processID).inserted else {
      return .none("the process stood still already")
    }
    isFlooding = true
    defer {
      standing.remove(victim.processID)
      isFlooding = false
    }
    await victim.stop()
    let flood = await QueueOverflow.flood(directory: directory)
    victim.resume()
    return Outcome(
      didStrike: flood.isComplete,
      text: "\(flood.count) events while process \(victim.processID) was stopped")
  }
}
