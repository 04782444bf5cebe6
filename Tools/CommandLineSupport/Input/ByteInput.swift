import Glibc

/// Reads a descriptor, or bytes in memory, through a buffer of fixed size.
package final class ByteInput {
  private enum Source {
    case descriptor(Int32, closes: Bool)
    case memory([UInt8], position: Int, piece: Int)
  }

  private static let bufferSize = 128 * 1024

  private var source: Source
  // Memory of its own: an array's would be checked, retained and released for every byte.
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  /// How much of the buffer is filled.
  private var end = 0
  private var position = 0

  /// The number of bytes taken out so far.
  package private(set) var bytesRead: Int64 = 0

  /// Reads a descriptor; `closes` says whether it is closed with this object.
  package init(fileDescriptor: Int32, closes: Bool) {
    source = .descriptor(fileDescriptor, closes: closes)
    buffer = .allocate(capacity: Self.bufferSize)
  }

  /// Reads bytes in memory, in pieces of a size that tests choose.
  package init(_ bytes: [UInt8], piece: Int = 4096) {
    source = .memory(bytes, position: 0, piece: max(1, piece))
    buffer = .allocate(capacity: max(1, piece))
  }

  deinit {
    buffer.deallocate()
    if case .descriptor(let descriptor, closes: true) = source { close(descriptor) }
  }

  /// Opens a file for reading; throws the `errno` value as ``MalformedInput/Reason``.
  package static func open(path: String) throws(MalformedInput) -> ByteInput {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw MalformedInput(line: 1, column: 1, reason: .unreadable(errno: errno))
    }
    return ByteInput(fileDescriptor: descriptor, closes: true)
  }

  /// The size of a regular file, nil for anything else.
  package var fileSize: Int64? {
    guard case .descriptor(let descriptor, _) = source else { return nil }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return Int64(information.st_size)
  }

  /// Takes the next byte; nil at the end.
  @inline(__always)
  func next() throws(ReadFailure) -> UInt8? {
    if position == end {
      guard try refill() else { return nil }
    }
    let byte = buffer[position]
    position += 1
    bytesRead += 1
    return byte
  }

  /// Looks at the next byte without taking it; nil at the end.
  @inline(__always)
  func peek() throws(ReadFailure) -> UInt8? {
    if position == end {
      guard try refill() else { return nil }
    }
    return buffer[position]
  }

  /// Takes the bytes up to one of `stops`, as far as the buffer has them; none where it is empty.
  ///
  /// - Parameter body: gets what is taken, valid during the call, and whether it is all ASCII; says whether to take it.
  @inline(__always)
  func takeRun(
    until stops: ByteSet, _ body: (UnsafeBufferPointer<UInt8>, _ isASCII: Bool) -> Bool
  ) {
    let start = position
    var next = start
    var seen: UInt8 = 0
    while next < end, !stops.contains(buffer[next]) {
      seen |= buffer[next]
      next += 1
    }
    guard next > start,
      body(UnsafeBufferPointer(rebasing: buffer[start..<next]), seen < 0x80)
    else { return }
    position = next
    bytesRead += Int64(next - start)
  }

  /// A failed `read`.
  struct ReadFailure: Error {
    let errno: Int32
  }

  private func refill() throws(ReadFailure) -> Bool {
    position = 0
    end = 0
    switch source {
    case .memory(let bytes, let start, let piece):
      end = min(bytes.count - start, piece)
      bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(buffer).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: $0[start..<start + end]))
      }
      source = .memory(bytes, position: start + end, piece: piece)
    case .descriptor(let descriptor, _):
      while true {
        let got = read(descriptor, buffer.baseAddress, buffer.count)
        if got < 0, errno == EINTR { continue }
        if got < 0 { throw ReadFailure(errno: errno) }
        end = got
        break
      }
    }
    return end > 0
  }
}

/// A set of ASCII characters.
struct ByteSet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(_ bytes: [UInt8]) {
    for byte in bytes where byte < 0x80 {
      let bit = UInt64(1) << UInt64(byte & 63)
      if byte < 64 { low |= bit } else { high |= bit }
    }
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    guard byte < 0x80 else { return false }
    return (byte & 64 == 0 ? low : high) &>> UInt64(byte & 63) & 1 != 0
  }
}

extension ByteInput {
  /// Reads all that is left; for texts that have to be whole anyway, as SQL.
  package func remainingBytes() throws(MalformedInput) -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while let byte = try next() { bytes.append(byte) }
    } catch {
      throw MalformedInput(line: 1, column: 1, reason: .unreadable(errno: error.errno))
    }
    return bytes
  }
}
