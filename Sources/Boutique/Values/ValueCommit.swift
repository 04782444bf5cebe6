/// A change of a stored value that memory shows already and that is on its way to the database.
///
/// Nobody has to keep it: the change is written all the same, and a failure is shown by the value's
/// `error`, by `synchronize()` and by ``SettingsStorage/problemHandler``.
public struct ValueCommit: Sendable {
  let number: UInt64
  let outcome: ChangeOutcome
  let engine: SettingsEngine

  /// Waits until the change is committed, for every process to see.
  ///
  /// Cancelling the task ends the wait, not the change.
  ///
  /// - Throws: why it was not stored; memory shows the stored value again by then.
  public func committed() async throws {
    do {
      try await outcome.wait()
    } catch {
      // Told here, so that `synchronize()` does not tell it again.
      engine.line.forgetFailure(of: number)
      await engine.settle()
      throw error
    }
    await engine.settle()
  }
}
