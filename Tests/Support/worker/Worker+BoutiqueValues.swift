import Boutique
import BoutiqueDB
import Foundation
import Glibc
import ProcessHarness

/// The stored values of the worker, all in one storage.
///
/// `values`: opens nothing yet. path; keyFile; or neither, for the usual place of `group`.
@MainActor
final class WorkerValues {
  static var current: WorkerValues?

  let storage: SettingsStorage
  let flag: StoredValue<Bool>
  let number: StoredValue<Int>
  let list: StoredValue<[String]>
  let counts: StoredValue<[String: Int]>

  init(_ storage: SettingsStorage) {
    self.storage = storage
    flag = StoredValue(wrappedValue: false, key: "flag", storage: storage)
    number = StoredValue(wrappedValue: 0, key: "number", storage: storage)
    list = StoredValue(wrappedValue: [], key: "list", storage: storage)
    counts = StoredValue(wrappedValue: [:], key: "counts", storage: storage)
  }

  func text(_ key: String) -> StoredValue<String?> {
    StoredValue(wrappedValue: nil, key: key, storage: storage)
  }

  func secret(_ key: String) -> SecurelyStoredValue<[String]> {
    SecurelyStoredValue(key: key, service: "tests", storage: storage)
  }

  /// All values as one object.
  var all: JSONValue {
    [
      "flag": .bool(flag.wrappedValue), "number": .integer(Int64(number.wrappedValue)),
      "list": .list(list.wrappedValue.map { .text($0) }),
      "counts": .object(counts.wrappedValue.mapValues { .integer(Int64($0)) }),
    ]
  }
}

extension Worker {
  /// The commands for stored values; nil for one that is none of them.
  @MainActor
  func performValues(_ command: Command) async throws -> [String: JSONValue]? {
    if command.verb == "values" {
      SettingsStorage.problemHandler = { _ in }
      let key = command["keyFile"]?.string.map { SecureKeySource.file($0) }
      let storage =
        if let group = command["group"]?.string {
          SettingsStorage.shared(group: group, key: key)
        } else {
          SettingsStorage.path(try command.text("path"), key: key)
        }
      WorkerValues.current = WorkerValues(storage)
      // The first look is part of the command: nothing is awaited before it.
      return command["look"]?.bool == true ? ["values": WorkerValues(storage).all] : [:]
    }
    guard command.verb.hasPrefix("value") || command.verb.hasPrefix("secret") else { return nil }
    if command.verb == "valueCrashAfter" {
      let step = try command.text("step")
      KeyFileTesting.afterStep { if $0 == step { kill(getpid(), SIGKILL) } }
      return [:]
    }
    guard let values = WorkerValues.current else {
      throw Misuse(description: "no values: begin with the command values")
    }
    switch command.verb {
    case "valueAll":
      return ["values": values.all]
    case "valueSetText":
      try await values.text(command.text("key")).set(command.text("text")).committed()
    case "valueText":
      return ["text": values.text(try command.text("key")).wrappedValue.map { .text($0) } ?? .null]
    case "valueSetNumber":
      let commit = values.number.set(try command.integer("number"))
      if command["waiting"]?.bool != false { try await commit.committed() }
    case "valueAppend":
      // All at once, and waited for together.
      let name = try command.text("name")
      for number in 0..<(try command.integer("count")) {
        values.list.append("\(name)-\(number)")
        values.flag.toggle()
        values.number.modify { $0 += 1 }
        values.counts.update(key: "\(name)-\(number % 10)", value: number)
        if number % 7 == 0 { await Task.yield() }
      }
      try await values.storage.synchronize()
    case "valueWatch": try await watch(values, command)
    case "valueSetAndEnd":
      values.number.set(try command.integer("number"))
      values.list.append("last")
      values.flag.toggle()
      exit(0)
    case "valueClose": try await values.storage.close()
    case "secretSet":
      try await values.secret(command.text("key")).set(command.texts("texts")).committed()
    case "secretGet":
      let texts = try values.secret(try command.text("key")).get()
      return ["texts": texts.map { .list($0.map { .text($0) }) } ?? .null]
    case "secretAppend":
      let secret = values.secret(try command.text("key"))
      let name = try command.text("name")
      for number in 0..<(try command.integer("count")) {
        try await secret.append("\(name)-\(number)").committed()
      }
    case "secretReadUntilCancelled": try await readSecrets(values, command)
    case "secretRotate":
      var count = 0
      for _ in 0..<(command["times"]?.int ?? 1) { count = try await values.storage.rotateKey() }
      return ["count": .integer(Int64(count))]
    default: return nil
    }
    return [:]
  }

  /// `valueWatch`: emits `value` for each value of `number`.
  @MainActor
  private func watch(_ values: WorkerValues, _ command: Command) async throws {
    for await number in values.number.values {
      command.emit("value", ["number": .integer(Int64(number))])
    }
    throw CancellationError()
  }

  /// `secretReadUntilCancelled`: reads a secret again and again, as a process that has just started would
  /// and as one that follows; any error ends it.
  @MainActor
  private func readSecrets(_ values: WorkerValues, _ command: Command) async throws {
    let key = try command.text("key")
    let secret = values.secret(key)
    var last = 0
    command.emit("reading")
    while !Task.isCancelled {
      let count = try secret.get()?.count ?? 0
      guard count >= last else {
        throw Misuse(description: "the secret went back from \(last) to \(count)")
      }
      last = count
      await Task.yield()
    }
    throw CancellationError()
  }
}
