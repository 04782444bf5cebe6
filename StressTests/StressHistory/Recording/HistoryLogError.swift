import Glibc

/// A history that cannot be written or read, which says nothing about what was tried.
package struct HistoryLogError: Error, Equatable, CustomStringConvertible {
  /// The file of the history.
  package let path: String
  /// The error's number (`errno`).
  package let code: CInt

  /// Describes what a call on a file has said.
  package init(path: String, code: CInt) {
    self.path = path
    self.code = code
  }

  /// What happened, to which file.
  package var description: String {
    "the history \(path) cannot be written: \(String(cString: strerror(code)))"
  }
}
