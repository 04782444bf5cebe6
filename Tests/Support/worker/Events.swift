import BoutiqueDB
import Glibc
import ProcessHarness
import Synchronization

/// Keeps the lines of several threads apart.
private let standardOutput = Mutex(())

/// Writes one event; when it returns, the event is in the pipe.
func emit(_ event: String, _ members: [String: JSONValue] = [:]) {
  var members = members
  members["event"] = .text(event)
  guard let line = try? JSONValue.object(members).line() else { return }
  var bytes = Array((line + "\n").utf8)[...]
  standardOutput.withLock { _ in
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR {
        _exit(1)  // the harness is gone
      }
    }
  }
}

/// Describes an error: its name, its text, and who was in the way.
func describe(_ error: any Error) -> [String: JSONValue] {
  var members: [String: JSONValue] = ["message": .text("\(error)")]
  switch error {
  case is CancellationError: members["error"] = "cancelled"
  case BoutiqueError.transactionInProgress: members["error"] = "transactionInProgress"
  case BoutiqueError.connectionEnded: members["error"] = "connectionEnded"
  case let error as BoutiqueError:
    // The cases' names; those without a payload, which a mirror does not name, are above.
    members["error"] = .text(Mirror(reflecting: error).children.first?.label ?? "unnamed")
  default: members["error"] = .text("\(type(of: error))")
  }
  switch error {
  case BoutiqueError.sql(let code, _): members["code"] = .integer(Int64(code))
  case BoutiqueError.lockTimeout(let timeout), BoutiqueError.migrationLockTimeout(let timeout):
    if let holder = timeout.holder {
      members["holder"] = [
        "pid": .integer(Int64(holder.pid)), "label": .text(holder.label),
        "isStopped": .bool(holder.isStopped), "isForeign": .bool(holder.isForeign),
      ]
    }
  default: break
  }
  return members
}

extension JSONValue {
  /// A stored value as JSON; a blob becomes `{"blob": "hexadecimal"}`.
  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .number(real)
    case .text(let text): self = .text(text)
    case .blob(let bytes):
      self = [
        "blob": .text(
          bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
      ]
    }
  }

  /// This value as an argument of a statement.
  var argument: SQLValue {
    switch self {
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .number(let value): .real(value)
    case .text(let value): .text(value)
    case .null, .list, .object: .null
    }
  }
}
