/// Finds out who holds a lease: the record, checked against what `/proc` says of the lock.
enum LeaseHolder {
  /// A holder as far as it can be known.
  struct Finding {
    var process: ProcessDescription
    var purpose: String?
    var since: BootClock.Instant?
    var slot: Int?
  }

  /// Returns who holds the lock of a byte.
  ///
  /// - Parameters:
  ///   - record: The lease's record, as read while the byte was locked.
  ///   - slots: The slots whose presence bytes are locked.
  static func find(
    byte: Int64, file: FileIdentity, record: TurnRecord?, slots: [Int: ProcessSlot]
  ) -> Finding? {
    if let record {
      let claim = KernelLocks.holds(
        byte, of: file, pid: record.pid, descriptor: record.descriptor,
        pidNamespace: record.pidNamespace)
      // `false` is the moment between lock and record: the record is the former holder's.
      if claim != false {
        let slot = record.slot >= 0 ? Int(record.slot) : nil
        let command = slot.flatMap { slots[$0] }.flatMap { $0.pid == record.pid ? $0.command : nil }
        let process = ProcessDescription(
          pid: record.pid, startTime: record.startTime, label: record.label,
          command: command ?? "", userID: record.userID,
          state: ProcessProbe.state(
            pid: record.pid, startTime: record.startTime, pidNamespace: record.pidNamespace))
        return Finding(
          process: process, purpose: record.purpose,
          since: BootClock.Instant(nanoseconds: record.since), slot: slot)
      }
    }
    for (number, slot) in slots.sorted(by: { $0.key < $1.key })
    where KernelLocks.holds(
      byte, of: file, pid: slot.pid, descriptor: slot.descriptor, pidNamespace: slot.pidNamespace)
      == true
    {
      let state = ProcessProbe.state(
        pid: slot.pid, startTime: slot.startTime, pidNamespace: slot.pidNamespace)
      return Finding(process: slot.description(state: state), slot: number)
    }
    return nil
  }
}
