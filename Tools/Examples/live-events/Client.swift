import Glibc

/// One connection; confined to the server's thread.
struct Client {
  private enum Phase {
    case reading([UInt8])
    /// Everything is in `output`; then the connection is closed.
    case answering
    /// The number of the last event that was put into `output`.
    case streaming(Int)
  }

  let socket: CInt
  private var phase = Phase.reading([])
  private var output: ArraySlice<UInt8> = []
  private(set) var isOver = false

  init(socket: CInt) { self.socket = socket }

  /// What to wait for.
  var events: Int16 { Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT) }

  /// Reads what the client has sent; a client that has gone away sends an end.
  mutating func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isOver {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else {
        if count == 0 || (errno != EAGAIN && errno != EINTR) { isOver = true }
        return
      }
      guard case .reading(let before) = phase else { continue }
      let bytes = before + buffer[..<count]
      phase = .reading(bytes)
      if let request = Request(bytes) { begin(request) }
    }
  }

  private mutating func begin(_ request: Request) {
    phase = .answering
    switch request {
    case .get("/"): output = answer("200 OK", type: "text/html", page)[...]
    case .get("/events"):
      output = streamHead[...]
      phase = .streaming(0)
    case .get: output = answer("404 Not Found", "There is / and /events.\n")[...]
    case .otherMethod: output = answer("405 Method Not Allowed", "Only GET.\n")[...]
    case .malformed: output = answer("400 Bad Request", "This is no HTTP request.\n")[...]
    }
  }

  /// Gives a client that listens the newest event, once it has taken the one before: who is slow misses
  /// some, and costs no memory.
  mutating func offer(_ event: (number: Int, bytes: [UInt8])) {
    guard output.isEmpty, case .streaming(let last) = phase, last < event.number else { return }
    phase = .streaming(event.number)
    output = event.bytes[...]
  }

  /// Says something now and then, so that a connection that is gone without a word is found out.
  mutating func keepAlive() {
    guard output.isEmpty, case .streaming = phase else { return }
    output = Array(": still here\n\n".utf8)[...]
  }

  /// Sends as much as the socket takes.
  mutating func write() {
    while !output.isEmpty, !isOver {
      // A client that is gone is an error here, not a signal that ends the program.
      let count = output.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count > 0 {
        output = output.dropFirst(count)
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        isOver = true
      }
    }
    if output.isEmpty, case .answering = phase { isOver = true }
  }
}
