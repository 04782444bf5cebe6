/// The beginning of an HTTP request; the fields of its head do not matter here.
enum Request: Equatable {
  case get(path: String)
  case otherMethod
  case malformed

  /// A head that is longer is refused.
  static let limit = 8192

  /// Reads a request's head; nil while it is not all there.
  init?(_ bytes: [UInt8]) {
    let end = Array("\r\n\r\n".utf8)
    let isWhole = bytes.indices.contains { index in bytes[index...].starts(with: end) }
    guard isWhole else {
      guard bytes.count > Self.limit else { return nil }
      self = .malformed
      return
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
    let parts = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else {
      self = .malformed
      return
    }
    self = parts[0] == "GET" ? .get(path: String(parts[1])) : .otherMethod
  }
}

/// Returns a whole answer, after which the connection is closed.
func answer(_ status: String, type: String = "text/plain", _ body: String) -> [UInt8] {
  Array(
    """
    HTTP/1.1 \(status)\r
    Content-Type: \(type); charset=utf-8\r
    Content-Length: \(body.utf8.count)\r
    Connection: close\r
    \r
    \(body)
    """.utf8)
}

/// The head of an answer that goes on for as long as the client listens.
let streamHead = Array(
  """
  HTTP/1.1 200 OK\r
  Content-Type: text/event-stream\r
  Cache-Control: no-store\r
  \r

  """.utf8)
