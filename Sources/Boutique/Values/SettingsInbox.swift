import BoutiqueDB
import Synchronization

/// What the main actor has to be told by the tasks that read and write, in the order in which it happened.
final class SettingsInbox: Sendable {
  enum Message: Sendable {
    /// What a snapshot holds: all rows, or those that were asked for.
    case rows(
      [SettingRow: SQLValue], asked: Set<SettingRow>?, token: ChangeToken, beginsAnew: Bool)
    /// What a commit made of the changes it holds.
    case committed([(change: ValueChange, stored: Result<SQLValue?, any Error>)], ChangeToken)
    /// Why a transaction was not committed.
    case failed([ValueChange], any Error)
    /// Why the database cannot be read or followed at present.
    case trouble(any Error)
  }

  private struct State {
    var messages: [Message] = []
    weak var reader: SettingsEngine?
  }

  private let state = Mutex(State())

  /// Says who reads.
  func connect(_ reader: SettingsEngine) { state.withLock { $0.reader = reader } }

  /// Adds a message and wakes the reader.
  func post(_ message: Message) {
    let reader = state.withLock { state -> SettingsEngine? in
      state.messages.append(message)
      // Somebody who has not read the one before has been woken already.
      return state.messages.count == 1 ? state.reader : nil
    }
    if let reader { Task { @MainActor in reader.readInbox() } }
  }

  /// Takes all messages.
  func take() -> [Message] {
    state.withLock { state in
      defer { state.messages = [] }
      return state.messages
    }
  }
}
