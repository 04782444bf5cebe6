import Foundation
import Glibc

/// The lines of standard input, read on a thread of their own.
enum StandardInput {
  /// The lines, until the input ends.
  ///
  /// By `read` and not by stdio: `exit` waits for the lock of a stream that another thread is reading.
  static func lines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      var rest: [UInt8] = []
      while true {
        let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { break }
        rest += buffer[..<count]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeSubrange(...end)
        }
      }
      continuation.finish()
    }
    return lines
  }
}
