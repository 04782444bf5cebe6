import Synchronization

/// What a test does after a step of making or replacing a key file.
package enum KeyFileTesting {
  private static let action: Mutex<(@Sendable (_ step: String) -> Void)?> = Mutex(nil)

  /// Calls a closure after each step, named as `KeyFile.Step`.
  package static func afterStep(_ body: (@Sendable (_ step: String) -> Void)?) {
    action.withLock { $0 = body }
  }

  static func call(_ step: String) {
    let body = action.withLock(\.self)
    body?(step)
  }
}

extension KeyFile {
  static func pause(after step: Step) { KeyFileTesting.call(step.rawValue) }
}
