import Glibc

/// How a child process ended.
package enum ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// It left by itself with this code.
  case exited(Int32)
  /// This signal ended it.
  case signalled(Int32)

  /// Reads the status word of `waitpid`: seven bits of signal, then the code in the next byte.
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
  }

  package var description: String {
    switch self {
    case .exited(let code): "exited with \(code)"
    case .signalled(let signal): "ended by signal \(signal) (\(String(cString: strsignal(signal))))"
    }
  }
}
