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

  /// `forkAndHold`: as `hold`, with a child made by `fork`.
  ///
  /// child, what it does: `live` (nothing, and lives on; without), `exit` (ends as a program does),
  /// `exec` (becomes `sleep`). Emits `holding` with the `child`'s process id; whoever asked for one that
  /// lives has to end it.
  func forkAndHold(_ command: Command) async throws -> [String: JSONValue] {
    let fork = try forkFunction()
    let behaviour = command["child"]?.string ?? "live"
    let held = HeldTransaction()
    setHeld(held, by: command.id)
    defer { setHeld(nil, by: command.id) }
    try await database().write { _ in
      // Made before the fork: in the child no memory may be allocated.
      let words: [String] = ["sleep", "300"]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      let child = fork()
      if child == 0 {
        alarm(300)  // not for ever, should the test fail to end it
        if behaviour == "exit" { exit(0) }
        if behaviour == "exec" { _ = execvp("sleep", &arguments) }
        while true { pause() }
      }
      if behaviour == "exit" { waitpid(child, nil, 0) }
      command.emit("holding", ["child": .integer(Int64(child))])
      try held.wait()
    }
    return [:]
  }

  /// `limitDescriptors`: count; sets how many descriptors this process may have, without it lifts the
  /// limit.
  func limitDescriptors(_ count: Int?) throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // The hard limit stays, so that the soft one can be lifted again by any user.
    limit.rlim_cur = count.map { rlim_t($0) } ?? limit.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw Surroundings.Failure(call: "setrlimit", code: errno)
    }
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
