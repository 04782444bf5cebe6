import Boutique
import Foundation
import Observation
import TestDatabase
import Testing

extension Store where Item == BoutiqueStoreSeed.Note {
  static let notesStore = Store<BoutiqueStoreSeed.Note>(
    storage: SQLiteStorageEngine.default(appendingPath: "Notes")
  )
}

/// What was published of Boutique: its blocks about stores, with what Swift 6 on Linux wants besides.
@Suite struct BoutiqueStoreSeed {
  struct Note: Codable, Sendable, Identifiable, Equatable {
    let id: String
    let text: String
    let createdAt: Date
  }

  enum Theme: String, Codable, Sendable, Equatable {
    case light
    case dark
    case system
  }

  // `@MainActor`, since the store is; `@ObservationIgnored`, since the macro would declare `_notes` again.
  @MainActor @Observable
  final class NotesController {
    /// Automatically handles in-memory and on-disk caching.
    @ObservationIgnored @Stored(in: .notesStore) var notes

    func saveNote(note: Note) async throws {
      try await self.$notes.insert(note)
    }
  }

  @MainActor static func saving() async throws {
    let controller = NotesController()
    let note = Note(id: "1", text: "one", createdAt: Date())
    var counts: [Int] = []
    let counting = Task { @MainActor in
      for await count in Observations({ controller.notes.count }) {
        counts.append(count)
        if count == 1 { return }
      }
    }
    while counts.isEmpty { await Task.yield() }
    try await controller.saveNote(note: note)
    await counting.value
    #expect(controller.notes == [note])
    #expect(counts == [0, 1])
  }

  // In a process of its own, since the environment belongs to all tests of this one.
  @Test func `a controller with a stored property`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      setenv("XDG_DATA_HOME", directory.path, 1)
      try await BoutiqueStoreSeed.saving()
      _ = directory
    }
  }

  @MainActor @Test func `an enumeration as an item`() async throws {
    let themes = try await Store<Theme>(
      storage: MemoryStorageEngine(), cacheIdentifier: \.rawValue)
    try await themes.insert([.dark, .light])
    #expect(themes.items == [.dark, .light])
  }
}
