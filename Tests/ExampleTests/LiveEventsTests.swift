import Foundation
import Glibc
import ProcessHarness
import TestDatabase
import Testing

/// The server of `docs/live-queries.md`, asked over plain sockets.
@Suite struct LiveEventsTests {
  /// A server on a port of its own.
  private struct Stage {
    let server: ChildProcess
    let port: String
    let database: String
    let children: ChildProcesses

    func commit(_ sql: String) async throws {
      let shell = try await children.start(
        ChildCommand("sqlite3", ["-batch", "-cmd", ".timeout 30000", database, sql]))
      #expect(try await shell.exit() == .exited(0))
    }

    /// Opens a connection, sends a text, and prints the lines that come.
    ///
    /// - Parameter more: Python that runs instead of the printing, with the connection as `s`.
    func client(_ request: String, _ more: String? = nil) async throws -> ChildProcess {
      let program = """
        import socket, sys, time
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        s.sendall(sys.argv[2].encode())
        \(more ?? "for line in s.makefile('r', newline=''): print(line.rstrip(), flush=True)")
        """
      return try await children.start(ChildCommand("python3", ["-c", program, port, request]))
    }

    /// Waits for the next event of a client with these titles.
    func expect(_ titles: [String], in client: ChildProcess) async throws {
      _ = try await client.next("\(titles)") { line in
        guard line.text.hasPrefix("data: "),
          let rows = JSONValue(line: String(line.text.dropFirst(6)))?.list
        else { return false }
        return rows.map { $0["title"]?.string ?? "" } == titles
      }
    }
  }

  private static let events = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"

  private func withServer(_ body: (Stage) async throws -> Void) async throws {
    let directory = try TestDirectory()
    let database = directory.file("notes.db")
    try await withChildProcesses { children in
      let server = try await children.start(built: "example-live-events", [database])
      let line = try await server.next("its address") { $0.text.contains("http://") }
      let port = line.text.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
      try await body(Stage(server: server, port: port, database: database, children: children))
    }
  }

  @Test func `a client hears the state at once and each commit of another program`() async throws {
    try await withServer { stage in
      try await stage.commit("INSERT INTO note VALUES (1, 'one')")
      let client = try await stage.client(Self.events)
      _ = try await client.next("the head") { $0.text == "Content-Type: text/event-stream" }
      try await stage.expect(["one"], in: client)
      for number in 2...10 {
        try await stage.commit("INSERT INTO note VALUES (\(number), 'n\(number)')")
        try await stage.expect(["one"] + (2...number).map { "n\($0)" }, in: client)
      }
      // A text with line ends is still one event.
      try await stage.commit(
        "DELETE FROM note; INSERT INTO note VALUES (1, 'a' || char(10) || 'b')")
      try await stage.expect(["a\nb"], in: client)
    }
  }

  @Test func `clients that go away, say nothing or do not listen disturb no other`() async throws {
    try await withServer { stage in
      let client = try await stage.client(Self.events)
      try await stage.expect([], in: client)
      // One that never reads, one that sends half a request, some that are gone at once.
      let deaf = try await stage.client(Self.events, "time.sleep(600)")
      let silent = try await stage.client("GET /ev", "time.sleep(600)")
      for _ in 0..<5 {
        let leaving = try await stage.client(
          Self.events,
          """
          import struct
          s.recv(10)
          s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
          s.close()
          """)
        #expect(try await leaving.exit() == .exited(0))
      }
      for round in 1...30 {
        try await stage.commit(
          "INSERT OR REPLACE INTO note VALUES (1, hex(zeroblob(60000)) || '\(round)')")
      }
      try await stage.commit("UPDATE note SET title = 'end'")
      try await stage.expect(["end"], in: client)
      deaf.kill()
      silent.kill()
      try await stage.commit("UPDATE note SET title = 'after'")
      try await stage.expect(["after"], in: client)
      let late = try await stage.client(Self.events)
      try await stage.expect(["after"], in: late)
    }
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK"),
    ("GET /nothing HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found"),
    ("POST / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
    ("hello\r\n\r\n", "HTTP/1.1 400 Bad Request"),
    (String(repeating: "x", count: 9000), "HTTP/1.1 400 Bad Request"),
  ])
  func `other requests get an answer and an end`(request: String, status: String) async throws {
    try await withServer { stage in
      let client = try await stage.client(request)
      _ = try await client.next(status) { $0.text == status }
      #expect(try await client.exit() == .exited(0))
    }
  }
}
