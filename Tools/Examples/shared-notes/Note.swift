import Boutique
import BoutiqueDB
import Foundation
import Observation

/// What the programs share.
struct Note: Codable, Sendable, Equatable, Identifiable {
  let id: String
  var text: String
  var source: String
  var createdAt: Date
}

/// The name that all programs agree on: `$XDG_DATA_HOME/<group>` and `$XDG_CONFIG_HOME/<group>`.
let group = "org.example.shared-notes"

extension Store where Item == Note {
  static let notesStore = Store<Note>(
    storage: SQLiteStorageEngine(
      directory: .sharedContainer(forAppGroupIdentifier: group, appendingPath: "notes"),
      configuration: labelled))

  /// Who this process is, in the others' events and in error messages.
  private static var labelled: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.label = CommandLine.arguments.dropFirst().first ?? "shared-notes"
    return configuration
  }
}

/// The notes, as the parts of a program see them.
@MainActor @Observable
final class NotesController {
  @ObservationIgnored @Stored(in: .notesStore) var notes

  func add(_ text: String, source: String, id: String = UUID().uuidString) async throws {
    try await $notes.insert(Note(id: id, text: text, source: source, createdAt: Date()))
  }

  /// Removes the notes whose identifiers begin so; returns how many there were.
  func remove(beginning prefix: String) async throws -> Int {
    let found = notes.filter { $0.id.lowercased().hasPrefix(prefix.lowercased()) }
    try await $notes.remove(found)
    return found.count
  }
}

/// The settings, which every program reads and may change.
@MainActor @Observable
final class Preferences {
  /// Whether the collector takes nothing at present.
  @ObservationIgnored @StoredValue(key: "isPaused") var isPaused = false
  /// What the collector puts before each note.
  @ObservationIgnored @StoredValue(key: "prefix") var prefix = ""
  /// Words whose notes the collector does not take.
  @ObservationIgnored @StoredValue(key: "ignoredWords") var ignoredWords: [String] = []
}
