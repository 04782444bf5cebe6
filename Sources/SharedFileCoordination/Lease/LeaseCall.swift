/// One call of `acquire`: when it ends without a turn.
struct LeaseCall {
  let deadline: BootClock.Instant?
  let isCancelled: @Sendable () -> Bool
  /// For how long from now the caller lets others go first, nil when it does not.
  let yieldingFor: @Sendable () -> Duration?
  let started: BootClock.Instant
  let path: String

  /// Throws when the caller gave up or the time is up.
  func check(waitersBefore: Int = 0) throws(CoordinationError) {
    if isCancelled() { throw .cancelled(path: path) }
    let now = BootClock.now()
    if let deadline, now >= deadline {
      throw .leaseTimeout(
        LeaseTimeout(
          path: path, waited: started.duration(to: now), waitersBefore: waitersBefore))
    }
  }

  /// Returns how long to wait at most, so as not to sleep through the deadline.
  func bounded(_ nanoseconds: UInt64) -> UInt64 {
    guard let deadline else { return nanoseconds }
    let now = BootClock.now().nanoseconds
    return min(nanoseconds, deadline.nanoseconds > now ? deadline.nanoseconds - now : 0)
  }

  /// Returns the place in line of who arrives now.
  func place() -> LeasePlace {
    let now = BootClock.now()
    guard let span = yieldingFor(), span > .zero else {
      return LeasePlace(ticket: now.nanoseconds, yieldsSince: nil)
    }
    return LeasePlace(ticket: now.advanced(by: span).nanoseconds, yieldsSince: now.nanoseconds)
  }
}

/// A place in line: a ticket, and for one that yields when it arrived.
struct LeasePlace {
  var ticket: UInt64
  var yieldsSince: UInt64?
}
