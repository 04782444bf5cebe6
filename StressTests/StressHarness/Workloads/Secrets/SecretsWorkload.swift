import Boutique
import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// Secrets that all processes read and write while one of them rotates the key.
///
/// Each process has a secret of its own, which nobody else writes, and all change one together. Whatever is read
/// is something that was written; what was acknowledged is there, or what came after it; and no process that
/// is killed in a rotation takes a secret along.
package struct SecretsWorkload: Workload {
  package static let name = "secrets"
  package static let summary =
    "sealed values beside key rotation and kills: what is read was written, and none is lost"
  package static let faults = FaultKind.allCases

  package init() {}

  static func storage(_ db: BoutiqueDB, _ run: RunContext) -> SettingsStorage {
    .database(db, key: .file(run.directory + "/keys/secrets.key"))
  }

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    let storage = Self.storage(db, run)
    for key in (0..<run.plan.processes).map(Secret.key) + [Secret.shared] {
      let value = SecurelyStoredValue<Secret>(key: key, storage: storage)
      try await value.set(Secret(number: 0)).committed()
    }
    try await storage.close()
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    let keeper = await SecretKeeper(Self.storage(db, worker.run), worker)
    await withTaskGroup { group in
      group.addTask { await keeper.keepOwn() }
      group.addTask { await keeper.countShared() }
      group.addTask { await keeper.readAll() }
      if worker.place == 0 { group.addTask { await keeper.rotate() } }
    }
    await keeper.end()
    await db.close()
  }

  @MainActor
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    var violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let storage = Self.storage(db, run)
    let evidence = Evidence(history)
    for key in (0..<run.plan.processes).map(Secret.key) + [Secret.shared] {
      let value = SecurelyStoredValue<Secret>(key: key, storage: storage)
      do {
        guard let secret = try value.get() else {
          violations.append(
            Violation(
              check: "lost secret", text: "\(key) is gone",
              operations: evidence.operations(atEnd: [Step(.read, key)])))
          continue
        }
        if let text = secret.fault {
          violations.append(
            Violation(
              check: "torn secret", text: text,
              operations: evidence.operations(atEnd: secret.seen(key))))
        }
        violations += Self.check(secret, key, run, history)
      } catch {
        violations.append(
          Violation(
            check: "lost secret", text: "\(key): \(error)",
            operations: evidence.operations(atEnd: [Step(.read, key, .text("an error"))])))
      }
    }
    try await storage.close()
    await db.close()
    return violations
  }

  private static func check(
    _ secret: Secret, _ key: String, _ run: RunContext, _ history: History
  ) -> [Violation] {
    // What a power cut may take is another workload's matter.
    guard !run.mayForget else { return [] }
    let writes = history.operations.filter { $0.steps.first?.key == key && $0.name != "rotate" }
    let done = writes.filter { $0.outcome == .done }
    let begun = writes.filter { $0.outcome != .refused }
    let least: Int64
    let most: Int64
    if key == Secret.shared {
      (least, most) = (Int64(done.count), Int64(begun.count))
    } else {
      least = done.compactMap(number).max() ?? 0
      most = begun.compactMap(number).max() ?? 0
    }
    guard secret.number < least || secret.number > most else { return [] }
    return [
      Violation(
        check: "lost secret",
        text: "\(key) is number \(secret.number), and must be between \(least) and \(most)",
        operations: Evidence(history).operations(atEnd: secret.seen(key)))
    ]
  }

  private static func number(_ operation: OperationRecord) -> Int64? {
    if case .integer(let number)? = operation.steps.first?.value { number } else { nil }
  }
}

/// A secret that shows whether it is whole.
struct Secret: Codable, Sendable, Equatable {
  static let shared = "shared"

  var number: Int64
  var text: String

  init(number: Int64) {
    self.number = number
    text = Self.text(of: number)
  }

  /// What a process saw, for its history.
  func seen(_ key: String) -> [Step] { [Step(.read, key, .integer(number))] }

  static func key(_ place: Int) -> String { "own-\(place)" }

  /// Of a length that changes, so that what is mixed from two shows.
  private static func text(of number: Int64) -> String {
    String(repeating: "\(number).", count: Int(number % 50) + 1)
  }

  /// Why nobody can have written it; nil where somebody can.
  var fault: String? {
    text == Self.text(of: number) ? nil : "number \(number) comes with the text of another: \(text)"
  }
}
