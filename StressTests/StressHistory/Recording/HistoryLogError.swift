import Glibc

/// A history that cannot be written or read, which says nothing about what was tried.
package struct HistoryLogError: Error, Equatable, CustomStringConvertible {
  /// The file of the history.
  package let path: String
  /// The error's number (`errno`).
  package let code: CInt

  /// What happened, to which file.
  package var description: String {
    "the history \(path) cannot be written: \(String(cString: strerror(code)))"
  }
}
