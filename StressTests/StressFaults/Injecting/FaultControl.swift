import CFaultVFS
import Glibc

/// The control file: what the leading process tells the others to suffer, and what they count of it.
///
/// Its numbers are atomics in memory that all processes map; the layout is in `CFaultVFS.h`.
///
/// `@unchecked Sendable`: the memory is only touched through C functions that use atomics.
final class FaultControl: @unchecked Sendable {
  /// Which processes: those at a place, or all.
  enum Slot: Hashable {
    case place(Int)
    case everybody

    var index: CInt {
      switch self {
      // The file has room for so many places; beyond that two share one.
      case .place(let place): CInt(place % FAULT_PLACES)
      case .everybody: CInt(FAULT_EVERYBODY)
      }
    }
  }

  /// A rule as `CFaultVFS.h` describes it.
  struct Rule {
    var kind: fault_rule_kind
    var accesses: UInt32
    var files: UInt32
    /// How many accesses pass before the first strike.
    var countdown: Int
    /// How many accesses fail.
    var strikes = Int.max
    var parameter: UInt64 = 0
  }

  static let allAccesses: UInt32 = 63
  static let allFiles: UInt32 = 7

  let pointer: OpaquePointer

  /// Makes the file anew.
  ///
  /// - Parameter notesWrites: whether processes note what they write, so that the power can be cut.
  init(making path: String, notesWrites: Bool) throws {
    guard let mapped = fault_control_map(path, notesWrites ? 1 : 0) else {
      throw FaultError(call: "mapping", path: path, code: errno)
    }
    pointer = mapped
  }

  /// Maps a file that the leading process has made.
  init(path: String) throws {
    guard let mapped = fault_control_map(path, -1) else {
      throw FaultError(call: "mapping", path: path, code: errno)
    }
    pointer = mapped
  }

  deinit { fault_control_unmap(pointer) }

  static func shadowDirectory(of path: String) -> String { path + ".shadow" }

  func set(_ rule: Rule, for slot: Slot) {
    fault_rule_set(
      pointer, slot.index, CInt(rule.kind.rawValue), rule.accesses, rule.files,
      Int64(rule.countdown), Int64(rule.strikes), rule.parameter)
  }

  /// Takes a rule back; returns how often it has struck.
  @discardableResult
  func clear(_ kind: fault_rule_kind, for slot: Slot) -> UInt64 {
    fault_rule_clear(pointer, slot.index, CInt(kind.rawValue))
  }

  func strikes(of kind: fault_rule_kind, for slot: Slot) -> UInt64 {
    fault_rule_strikes(pointer, slot.index, CInt(kind.rawValue))
  }

  /// Takes everything back that processes are told to suffer.
  func clearAll() {
    for index in 0..<CInt(FAULT_SLOTS) {
      for kind in 0..<CInt(FAULT_RULES.rawValue) { _ = fault_rule_clear(pointer, index, kind) }
      _ = fault_point_clear(pointer, index)
      _ = fault_clock_set(pointer, index, 0)
    }
  }
}

/// A fault that could not be prepared.
package struct FaultError: Error, CustomStringConvertible {
  let call: String
  let path: String
  let code: CInt

  package var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}
