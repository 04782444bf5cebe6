import CommandLineSupport
import Glibc

/// A call of the kernel that failed.
struct SystemCallFailure: Error, CustomStringConvertible {
  let call: String
  let subject: String
  let code: Int32

  /// Takes `errno` as it is now, unless a code is given.
  init(_ call: String, _ subject: String, code: Int32 = errno) {
    self.call = call
    self.subject = subject
    self.code = code
  }

  var description: String { "\(subject): \(SystemMessage.text(code)) (\(call))" }
}

/// Something that went wrong, told in a sentence for the user.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
