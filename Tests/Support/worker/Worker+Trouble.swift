import BoutiqueDB
import Foundation
import Glibc
import ProcessHarness

extension Worker {
  /// `fill`: fills a file system.
  ///
  /// path, leave. Writes a file until no more than `leave` bytes are free. Answers with `written`.
  func fill(_ command: Command) throws -> [String: JSONValue] {
    let leave = command["leave"]?.int ?? 0
    let path = try command.text("path")
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Surroundings.Failure(call: "open", code: errno) }
    defer { Glibc.close(descriptor) }
    var written = 0
    for chunk in [65_536, 4096, 512] {
      let zeros = [UInt8](repeating: 0, count: chunk)
      while true {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else {
          throw Surroundings.Failure(call: "fstatvfs", code: errno)
        }
        if Int(status.f_bavail) * Int(status.f_bsize) < leave + chunk { break }
        let count = write(descriptor, zeros, chunk)
        if count <= 0 { break }
        written += count
      }
    }
    return ["written": .integer(Int64(written))]
  }

  /// `fork`: makes a child without `exec` inside a write, and lets it use the connection.
  ///
  /// sql, statements to run before; childSQL, statements for the child. Answers with `child`, what
  /// became of them there, and then commits in the parent.
  func useAcrossFork(_ command: Command) async throws -> [String: JSONValue] {
    let fork = try forkFunction()
    let statements = command.texts("sql")
    return try await database().write { connection in
      for statement in statements { try connection.execute(statement) }
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else { throw Surroundings.Failure(call: "pipe", code: errno) }
      let child = fork()
      if child == 0 {
        // Only this thread exists here. It says what it saw and leaves without any clean-up.
        var outcome: [String: JSONValue] = ["error": "none"]
        do {
          for statement in command.texts("childSQL") { try connection.execute(statement) }
        } catch {
          outcome = describe(error)
        }
        let text = Array(((try? JSONValue.object(outcome).line()) ?? "").utf8)
        write(ends[1], text, text.count)
        _exit(0)
      }
      Glibc.close(ends[1])
      guard child > 0 else { throw Surroundings.Failure(call: "fork", code: errno) }
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(ends[0], &buffer, buffer.count)
        if count <= 0 { break }
        text += buffer[..<count]
      }
      Glibc.close(ends[0])
      waitpid(child, nil, 0)
      return ["child": JSONValue(line: String(decoding: text, as: UTF8.self)) ?? .null]
    }
  }

  /// `forkAndHold`: as `hold`, with a child made by `fork` that does nothing and lives on.
  ///
  /// Emits `holding` with the `child`'s process id; whoever asked for it has to end it.
  func forkAndHold(_ command: Command) async throws -> [String: JSONValue] {
    let fork = try forkFunction()
    let held = HeldTransaction()
    try await database().write { _ in
      let child = fork()
      if child == 0 {
        alarm(300)  // not for ever, should the test fail to end it
        while true { pause() }
      }
      command.emit("holding", ["child": .integer(Int64(child))])
      try held.wait()
    }
    return [:]
  }

  /// The C library's fork, which Swift marks unavailable, for good reasons: that it happens nonetheless
  /// is the subject here.
  private func forkFunction() throws -> @convention(c) () -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let address = dlsym(nil, "fork") else {
      throw Misuse(description: "the C library has no fork")
    }
    return unsafeBitCast(address, to: Fork.self)
  }
}
