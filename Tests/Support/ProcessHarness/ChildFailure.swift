/// What a test did not get from a child, with everything the child said.
package struct ChildFailure: Error, CustomStringConvertible {
  /// What went wrong.
  package enum Reason: Sendable, Hashable {
    /// The program could not be started; the system call and its error.
    case notStarted(call: String, code: Int32)
    /// The child ended before it said what was waited for.
    case ended(ExitStatus)
    /// The bound passed.
    case timedOut(Duration)
    /// The child answered, but with an error.
    case refused(String)
  }

  /// What went wrong.
  package let reason: Reason
  /// The program, its process id and its arguments.
  package let child: String
  /// What was waited for.
  package let awaited: String
  /// The last lines of standard output that no one took.
  package let lastLines: [String]
  /// The end of standard error.
  package let standardError: String

  /// Creates a failure; the harness and layers above it do, to attach what the child said.
  package init(
    _ reason: Reason, child: String, awaited: String, lastLines: [String] = [],
    standardError: String = ""
  ) {
    self.reason = reason
    self.child = child
    self.awaited = awaited
    self.lastLines = lastLines
    self.standardError = standardError
  }

  package var description: String {
    let what =
      switch reason {
      case .notStarted(let call, let code): "could not be started: \(call) gave error \(code)"
      case .ended(let status): "\(status) before it said: \(awaited)"
      case .timedOut(let bound): "did not say within \(bound): \(awaited)"
      case .refused(let message): "was asked for \(awaited) and failed: \(message)"
      }
    var text = "\(child) \(what)"
    if !lastLines.isEmpty {
      text += "\n  lines nobody took:\n    " + lastLines.joined(separator: "\n    ")
    }
    if !standardError.isEmpty { text += "\n  its standard error:\n\(standardError)" }
    return text
  }
}
