import Boutique
import BoutiqueDB
import Foundation
import Observation
import TestDatabase
import Testing

extension Store where Item == StoredPropertyTests.Note {
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  static let notesStore = Store(storage: MemoryStorageEngine())
}

/// The property that is a store's items.
@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct StoredPropertyTests {
  struct Note: Codable, Sendable, Identifiable, Equatable {
    let id: String
    let text: String
  }

  @MainActor @Observable
  final class NotesController {
    @ObservationIgnored @Stored(in: .shared) var notes

    var title = ""

    func saveNote(note: Note) async throws { try await self.$notes.insert(note) }
  }

  /// The same without `@Observable`: the store is observable by itself.
  @MainActor
  final class Reader {
    @Stored(in: .shared) var notes
  }

  @Test func `many controllers share a store, and the array is observed`() async throws {
    let (first, second, reader) = (NotesController(), NotesController(), Reader())
    try await first.$notes.removeAll()
    var counts: [Int] = []
    let counting = Task { @MainActor in
      for await count in Observations({ second.notes.count }) {
        counts.append(count)
        if count == 2 { return }
      }
    }
    try await waitUntil("the first count") { !counts.isEmpty }
    try await first.saveNote(note: Note(id: "1", text: "one"))
    #expect(second.notes == [Note(id: "1", text: "one")])
    #expect(reader.notes == first.notes)
    try await waitUntil("one") { counts.contains(1) }
    try await second.$notes.insert(Note(id: "2", text: "two"))
    await counting.value
    #expect(counts == [0, 1, 2])
    #expect(first.notes.map(\.id) == ["1", "2"])
    #expect(first.$notes === second.$notes)
  }
}
