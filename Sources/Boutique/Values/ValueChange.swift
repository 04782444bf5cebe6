import BoutiqueDB
import Foundation
import Synchronization

/// One change of a value on its way to the database.
struct ValueChange: Sendable {
  enum Kind: Sendable {
    /// The new clear form, whatever was there; nil removes the row.
    case replace(Data?)
    /// A function of what is there. It runs at least twice: on the main actor for what is shown, and in
    /// the transaction for what is stored.
    case modify(@Sendable (Data?) throws -> Data?)
  }

  let number: UInt64
  let row: SettingRow
  let codec: any RowCodec
  let kind: Kind
  let outcome = ChangeOutcome()

  /// Changes the row inside a transaction.
  ///
  /// - Returns: what is stored now.
  func apply(on connection: BoutiqueConnection, path: String) throws -> SQLValue? {
    let stored: SQLValue?
    switch kind {
    case .replace(let clear):
      stored = try clear.map { try codec.seal($0, for: row, path: path, on: connection) }
    case .modify(let function):
      let before = try SettingsTables.read(row, on: connection)
      let clear = try before.map { try codec.open($0, of: row, path: path) }
      let after = try function(clear)
      if after == clear { return before }
      stored = try after.map { try codec.seal($0, for: row, path: path, on: connection) }
    }
    try SettingsTables.write(stored, to: row, on: connection)
    return stored
  }
}

/// How a change ended, for whoever waits for it.
final class ChangeOutcome: Sendable {
  private struct State {
    var result: Result<Void, any Error>?
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  func complete(_ result: Result<Void, any Error>) {
    let waiting = state.withLock { state in
      state.result = state.result ?? result
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume(with: result) }
  }

  /// Waits for the end; cancelling ends the wait, not the change.
  func wait() async throws {
    let ticket = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if let result = state.result { return result }
          // The handler has run already, and found nobody to wake.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiting[ticket] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: ticket) }?
        .resume(throwing: CancellationError())
    }
  }
}
