import BoutiqueDB
import Foundation
import Glibc
import ProcessHarness
import Synchronization

/// Performs the commands, each in a task of its own, so that one process can hold, watch and write at
/// the same time.
///
/// Each command carries an `id`; its events carry the same number as `re`. The last event of a command
/// is `done`, or `failed` with the error's name and text, or `cancelled`. A command with `after` begins
/// when that one has ended.
final class Worker: Sendable {
  /// A command that cannot be performed as it was put.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var database: BoutiqueDB?
    var tasks: [Int: Task<Void, Never>] = [:]
    /// Transactions that wait inside their closure, by the command that began them.
    var held: [Int: HeldTransaction] = [:]
    /// Workers started by this one.
    var children: [ChildProcess] = []
  }

  private let state = Mutex(State())

  /// Begins to perform a command.
  func receive(_ line: String) {
    guard let json = JSONValue(line: line), let command = Command(json) else {
      emit("failed", ["error": "misuse", "message": .text("not a command: \(line)")])
      return
    }
    state.withLock { state in
      let earlier = command["after"]?.int.flatMap { state.tasks[$0] }
      state.tasks[command.id] = Task.detached {
        await earlier?.value
        await self.run(command)
      }
    }
  }

  private func run(_ command: Command) async {
    do {
      let answer = try await perform(command)
      command.emit("done", answer)
    } catch is CancellationError {
      command.emit("cancelled")
    } catch {
      command.emit("failed", describe(error))
    }
  }

  private func perform(_ command: Command) async throws -> [String: JSONValue] {
    switch command.verb {
    // The database and single statements.
    case "open": return try await open(command)
    case "close": return try await close()
    case "exec": return try await execute(command)
    case "script": return try await runScript(command)
    case "query": return ["rows": try await query(command)]
    case "status": return ["status": try await status()]
    case "check": return try await check()
    case "waiting": return ["count": .integer(Int64(try database().waitingWriteCount))]
    case "token": return ["token": .text(try await database().currentToken().description)]
    // Writing.
    case "increment": return try await increment(command)
    case "append": return try await append(command)
    case "flood": return try await flood(command)
    case "transact": return try await transact(command)
    case "hold": return try await hold(command)
    case "release": return try release(command)
    // Watching.
    case "observe": return try await observe(command)
    case "changes": return try await followChanges(command)
    case "consume": return try await consume(command)
    case "waitFor": return try await waitForToken(command)
    case "cancel": return try cancel(command)
    // Trouble.
    case "crash": kill(getpid(), SIGKILL)
    case "exit": exit(CInt(command["code"]?.int ?? 0))
    case "fork": return try await useAcrossFork(command)
    case "forkAndHold": return try await forkAndHold(command)
    case "limitFileSize": try limitFileSize(command["bytes"]?.int.map { rlim_t($0) })
    case "limitDescriptors": try limitDescriptors(command["count"]?.int)
    case "fill": return try fill(command)
    case "remove": unlink(try command.text("path"))
    case "startWorker": return try await startWorker()
    case let verb where verb.hasPrefix("model."): return try await performModels(command)
    case let verb where verb.hasPrefix("watched."): return try await performWatched(command)
    case let verb where verb.hasPrefix("blackbird."): return try await performDatabase(command)
    // Stores of the product Boutique.
    case let verb where verb.hasPrefix("store."): return try await performOnStore(command)
    default:
      if let answer = try await performValues(command) { return answer }
      throw Misuse(description: "no such command: \(command.verb)")
    }
    return [:]
  }

  // MARK: What the commands share

  func database() throws -> BoutiqueDB {
    guard let database = state.withLock({ $0.database }) else {
      throw Misuse(description: "no database is open")
    }
    return database
  }

  func setDatabase(_ database: BoutiqueDB?) {
    state.withLock { $0.database = database }
  }

  func setHeld(_ held: HeldTransaction?, by id: Int) {
    state.withLock { $0.held[id] = held }
  }

  private func release(_ command: Command) throws -> [String: JSONValue] {
    let of = try command.integer("of")
    guard let held = state.withLock({ $0.held[of] }) else {
      throw Misuse(description: "command \(of) holds nothing")
    }
    held.release(throwing: command["throwing"]?.bool ?? false)
    return [:]
  }

  private func cancel(_ command: Command) throws -> [String: JSONValue] {
    let of = try command.integer("of")
    guard cancelTask(of) else { throw Misuse(description: "there was no command \(of)") }
    return [:]
  }

  @discardableResult
  func cancelTask(_ id: Int) -> Bool {
    let task = state.withLock { $0.tasks[id] }
    task?.cancel()
    return task != nil
  }

  private func startWorker() async throws -> [String: JSONValue] {
    let child = try await ChildProcess.start(
      ChildCommand(
        try BuiltExecutable.path(
          "boutique-test-worker")))
    state.withLock { $0.children.append(child) }
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    return ["pid": .integer(Int64(child.processID))]
  }
}
