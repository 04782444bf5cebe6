import Foundation
import SharedFileCoordination

/// A real process that takes part by the documented layout alone, written in another language.
///
/// It reads one command a line and answers one line each: `lock BYTE`, `unlock BYTE`,
/// `pwrite OFFSET HEX`, `fork` (a child that keeps this one descriptor and sleeps).
final class PythonChild: @unchecked Sendable {
  // Used by one test, which is one thread at a time.
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest: [UInt8] = []

  static let isAvailable: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import fcntl, struct"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  private static let script = """
    import fcntl, os, struct, sys, time
    F_OFD_SETLK = 37
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
    def lock(kind, byte):
        fcntl.fcntl(fd, F_OFD_SETLK, struct.pack('hhqqixxxx', kind, 0, byte, 1, 0))
    def answer(text):
        sys.stdout.write(text + '\\n')
        sys.stdout.flush()
    answer('%d %d' % (os.getpid(), fd))
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == 'lock': lock(fcntl.F_WRLCK, int(words[1]))
            elif words[0] == 'unlock': lock(fcntl.F_UNLCK, int(words[1]))
            elif words[0] == 'pwrite': os.pwrite(fd, bytes.fromhex(words[2]), int(words[1]))
            elif words[0] == 'fork':
                child = os.fork()
                if child == 0:
                    os.closerange(0, fd); os.closerange(fd + 1, 256)
                    time.sleep(600)
                    os._exit(0)
                answer(str(child))
                continue
            answer('ok')
        except OSError as error:
            answer('errno %d' % error.errno)
    """

  private(set) var pid: Int32 = 0
  private(set) var descriptor: Int32 = -1

  init(lockFile: String) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.script, lockFile]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let words = try line().split(separator: " ").compactMap { Int32($0) }
    guard words.count == 2 else { throw TestFailure(text: "the child does not start") }
    (pid, descriptor) = (words[0], words[1])
  }

  deinit {
    signal(SIGKILL)
    process.waitUntilExit()
  }

  /// Sends a command and returns the answer.
  @discardableResult
  func tell(_ command: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    return try line()
  }

  func signal(_ number: Int32) {
    if pid > 0, process.isRunning { kill(pid, number) }
  }

  /// Stops the process and returns when it is stopped.
  func stop() -> Bool {
    signal(SIGSTOP)
    return eventually {
      ProcessProbe.state(pid: pid, startTime: 0, pidNamespace: 0) == .stopped
    }
  }

  /// Kills the process and returns when it is gone.
  func killAndWait() {
    signal(SIGKILL)
    process.waitUntilExit()
  }

  private func line() throws -> String {
    while true {
      if let end = rest.firstIndex(of: 10) {
        defer { rest.removeFirst(end + 1) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw TestFailure(text: "the child is gone") }
      rest += more
    }
  }
}
