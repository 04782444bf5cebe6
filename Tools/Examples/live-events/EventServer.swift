import Foundation
import Glibc
import Synchronization

/// A small HTTP server whose clients all hear the newest event.
///
/// One thread waits for all sockets at once and never for a single one; the tasks of the program only leave
/// the newest event here and ring.
final class EventServer: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let call: String
    let code = errno
    var description: String { "\(call): \(String(cString: strerror(code)))" }
  }

  private static let clientLimit = 256
  private static let keepAliveMilliseconds: CInt = 15_000

  let port: UInt16
  private let listener: CInt
  /// A pipe: what is written to one end wakes the thread at the other.
  private let wakeUp: (read: CInt, write: CInt)
  private let latest = Mutex<(number: Int, bytes: [UInt8])>((0, []))

  /// Begins to listen on a port of this machine alone; 0 takes a free one.
  init(port: UInt16) throws {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw Failure(call: "socket") }
    Self.prepare(listener)
    var yes: CInt = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isBound else { throw Failure(call: "bind to port \(port)") }
    self.listener = listener
    self.port = UInt16(bigEndian: address.sin_port)
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(call: "pipe") }
    for end in ends { Self.prepare(end) }
    wakeUp = (ends[0], ends[1])
  }

  /// Starts the thread.
  func start() { Thread.detachNewThread { self.serve() } }

  /// Makes this the newest event; from any task, without waiting.
  func publish(_ data: String) {
    latest.withLock { latest in
      latest.number += 1
      latest.bytes = Array("id: \(latest.number)\ndata: \(data)\n\n".utf8)
    }
    // When the pipe is full the thread has been woken often enough.
    var byte: UInt8 = 0
    _ = write(wakeUp.write, &byte, 1)
  }

  private func serve() {
    var clients: [Client] = []
    while true {
      var polls = [
        pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      ]
      polls += clients.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
      let count = poll(&polls, nfds_t(polls.count), Self.keepAliveMilliseconds)
      if polls[0].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 512)
        _ = read(wakeUp.read, &bytes, bytes.count)
      }
      let event = latest.withLock { $0 }
      for index in clients.indices {
        if polls[index + 2].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
          clients[index].read()
        }
        // Twice, since what is offered may be what a client waits for after its answer's head.
        clients[index].write()
        clients[index].offer(event)
        if count == 0 { clients[index].keepAlive() }
        clients[index].write()
      }
      for client in clients where client.isOver { close(client.socket) }
      clients.removeAll(where: \.isOver)
      if polls[1].revents != 0 { accept(into: &clients) }
    }
  }

  /// Lets calls return instead of waiting, and no child of the program inherit the descriptor.
  private static func prepare(_ descriptor: CInt) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  private func accept(into clients: inout [Client]) {
    while true {
      let socket = Glibc.accept(listener, nil, nil)
      guard socket >= 0 else {
        // Without descriptors the line of those who wait stays readable: no reason to spin.
        if errno == EMFILE || errno == ENFILE { usleep(50_000) }
        return
      }
      Self.prepare(socket)
      if clients.count < Self.clientLimit {
        clients.append(Client(socket: socket))
      } else {
        close(socket)
      }
    }
  }
}
