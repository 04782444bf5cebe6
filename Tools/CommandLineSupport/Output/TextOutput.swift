import Glibc
import Synchronization

/// Why output could not be written.
package enum OutputError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reader at the other end of a pipe has gone; nobody wants the rest.
  case readerGone
  /// Writing failed for another reason: a full disk, an I/O error.
  case failed(errno: Int32)

  package var description: String {
    switch self {
    case .readerGone: "the reader of the output has gone"
    case .failed(let code): "cannot write the output: \(SystemMessage.text(code))"
    }
  }
}

/// The kernel's words for its error numbers.
package enum SystemMessage {
  /// Returns the message of an `errno` value.
  package static func text(_ code: Int32) -> String {
    // Safe on any thread: since version 2.32 glibc keeps the text in thread-local storage.
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}

/// Buffered text output to a descriptor, usable from any thread.
///
/// A reader that has gone is an error of its own here rather than a signal: call
/// ``ignoreBrokenPipes()`` at the start of the program.
package final class TextOutput: Sendable {
  private static let bufferSize = 64 * 1024

  private let fileDescriptor: Int32
  private let buffer = Mutex<[UInt8]>([])

  /// Writes to a descriptor that stays the caller's.
  package init(fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

  /// Makes a write to a pipe without reader return an error instead of ending the process.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Adds text to the buffer; writes it out when the buffer is full.
  package func write(_ text: String) throws(OutputError) {
    try buffer.withLock { (buffer: inout [UInt8]) throws(OutputError) in
      buffer += text.utf8
      if buffer.count >= Self.bufferSize { try drain(&buffer) }
    }
  }

  /// Writes out what is buffered.
  package func flush() throws(OutputError) {
    try buffer.withLock { (buffer: inout [UInt8]) throws(OutputError) in try drain(&buffer) }
  }

  private func drain(_ buffer: inout [UInt8]) throws(OutputError) {
    // What could not be written is dropped: a second attempt would meet the same fault.
    defer { buffer.removeAll(keepingCapacity: true) }
    var start = 0
    while start < buffer.count {
      let written = buffer.withUnsafeBytes { bytes in
        Glibc.write(fileDescriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start)
      }
      let code = errno
      if written >= 0 {
        start += written
      } else if code == EAGAIN {
        waitUntilWritable()
      } else if code == EPIPE {
        throw .readerGone
      } else if code != EINTR {
        throw .failed(errno: code)
      }
    }
  }

  /// A terminal shared with a program that set it non-blocking answers EAGAIN.
  private func waitUntilWritable() {
    var entry = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&entry, 1, 1000)
  }
}
