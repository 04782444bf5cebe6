import Boutique
import Foundation
import StressHistory
import StressReport

/// One process's secrets.
@MainActor
final class SecretKeeper {
  private let storage: SettingsStorage
  private let worker: WorkerContext
  private let own: SecurelyStoredValue<Secret>
  private let shared: SecurelyStoredValue<Secret>

  init(_ storage: SettingsStorage, _ worker: WorkerContext) {
    self.storage = storage
    self.worker = worker
    own = SecurelyStoredValue(key: Secret.key(worker.place), storage: storage)
    shared = SecurelyStoredValue(key: Secret.shared, storage: storage)
  }

  func end() async {
    // What could not be written has been told to whoever asked for it.
    try? await storage.close()
  }

  /// Sets the process's own secret, one number after the other.
  func keepOwn() async {
    var random = worker.random("own")
    while !worker.shouldEnd {
      guard let before = read(own, "own") else {
        await pause(random.int(1...5))
        continue
      }
      let next = Secret(number: before.number + 1)
      let steps = [Step(.set, own.key, .integer(next.number))]
      let done = await worker.operate("set", client: 1, steps) {
        try await self.own.set(next).committed()
        return steps
      }
      if done != nil, let after = read(own, "own"), after.number < next.number {
        worker.log.note(
          .violation, "own write not shown",
          "\(own.key) was set to number \(next.number), and is \(after.number)",
          seen: after.seen(own.key))
      }
      await pause(random.int(0...5))
    }
  }

  /// Adds one to the secret of all.
  func countShared() async {
    var random = worker.random("shared")
    while !worker.shouldEnd {
      let steps = [Step(.add, Secret.shared, .integer(1))]
      await worker.operate("add", client: 2, steps) {
        let commit = try self.shared.modify { secret in
          guard let number = secret?.number else { throw Lost() }
          secret = Secret(number: number + 1)
        }
        try await commit.committed()
        return steps
      }
      await pause(random.int(0...8))
    }
  }

  /// Reads the secrets of all processes, as one that follows and as one that has just started.
  func readAll() async {
    while !worker.shouldEnd {
      for key in keys {
        _ = read(SecurelyStoredValue<Secret>(key: key, storage: storage), "who follows")
      }
      // A database of its own, and so keys that nobody has read before.
      guard let db = try? await worker.open() else { continue }
      let fresh = SecretsWorkload.storage(db, worker.run)
      for key in keys {
        _ = read(SecurelyStoredValue<Secret>(key: key, storage: fresh), "who has just started")
      }
      try? await fresh.close()
      await db.close()
      await pause(5)
    }
  }

  private var keys: [String] {
    (0..<worker.run.plan.processes).map(Secret.key) + [Secret.shared]
  }

  /// Gives all secrets a new key, again and again.
  func rotate() async {
    var random = worker.random("rotate")
    while !worker.shouldEnd {
      await worker.operate("rotate", client: 3, [Step(.set, "key")]) {
        let count = try await self.storage.rotateKey()
        return [Step(.set, "key", .integer(Int64(count)))]
      }
      await pause(random.int(0...40))
    }
  }

  // MARK: Reading

  private struct Lost: Error {}

  private func read(_ value: SecurelyStoredValue<Secret>, _ reader: String) -> Secret? {
    let began = HistoryLog.now()
    do {
      guard let secret = try value.get() else {
        worker.log.note(
          .violation, "lost secret", "\(reader): \(value.key) is gone", since: began,
          seen: [Step(.read, value.key)])
        return nil
      }
      if let text = secret.fault {
        worker.log.note(
          .violation, "torn secret", "\(reader), \(value.key): \(text)", since: began,
          seen: secret.seen(value.key))
      }
      return secret
    } catch {
      judge(error, value.key, since: began)
      return nil
    }
  }

  /// What is stored must be readable whatever fails around it; to read at all may fail while a fault lasts.
  private func judge(_ error: any Error, _ key: String, since began: Int64) {
    let isLoss =
      switch error {
      case SecureValueError.keyFileUnusable, SecureValueError.noMemory: false
      case is SecureValueError: true
      default: worker.run.plan.faults.isEmpty
      }
    worker.log.note(
      isLoss ? .violation : .trouble, "lost secret", "\(key): \(error)", since: began,
      seen: [Step(.read, key, .text("an error"))])
  }

  private func pause(_ milliseconds: Int) async {
    try? await Task.sleep(for: .milliseconds(milliseconds))
  }
}
