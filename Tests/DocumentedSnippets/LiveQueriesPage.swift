import BoutiqueDB
import Foundation
import Observation
import TestDatabase
import Testing

/// The code of docs/live-queries.md.
@Suite struct LiveQueriesPage {
  @BoutiqueTable
  struct Note: Equatable {
    let id: Int
    var title: String
    var isPinned: Bool = false
  }

  @MainActor @Observable final class NotesModel {
    @ObservationIgnored @LiveQuery var pinned: [Note]
    init(_ db: BoutiqueDB) { _pinned = LiveQuery(db) { Note.where { $0.isPinned.eq(true) } } }
  }

  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") { conn in
      try Note.createTable().execute(conn)
      try Note.insert { [Note(id: 1, title: "one"), Note(id: 2, title: "two")] }.execute(conn)
    }
  }

  static func asking(_ db: BoutiqueDB, print: ([String]) -> Void) async throws {
    // BEGIN asking
    for try await titles in db.observe({ conn in
      let pinned = try Note.where { $0.isPinned.eq(true) }.fetchAll(conn)
      let count = try Note.all.fetchCount(conn)
      return pinned.map { "\($0.title), one of \(count)" }
    }) {
      print(titles)
    }
    // END asking
  }

  static func differences(_ db: BoutiqueDB, print: (String) -> Void) async throws {
    // BEGIN differences
    var shown: [Note] = []
    for try await difference in db.observe({ Note.order { $0.title } }).differences {
      difference.apply(to: &shown)  // now equal to `difference.elements`
      print("\(difference.inserted.count) came, \(difference.moved.count) have another place")
      // END differences
      #expect(shown == difference.elements)
      // BEGIN differences
    }
    // END differences
  }

  // BEGIN own writes
  @MainActor func pin(_ note: Note, in model: NotesModel, _ db: BoutiqueDB) async throws {
    try await db.write { conn in
      try Note.find(note.id).update { $0.isPinned = true }.execute(conn)
    }
    print(model.pinned.map(\.title))  // the note is among them
  }
  // END own writes

  @Test func `several queries of one closure see one moment`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let watching = Task {
        var seen: [[String]] = []
        try await Self.asking(db) { titles in
          seen.append(titles)
          if titles == ["two, one of 2"] { withUnsafeCurrentTask { $0?.cancel() } }
        }
        return seen
      }
      try await db.write { conn in try Note.find(2).update { $0.isPinned = true }.execute(conn) }
      #expect(try await watching.value.last == ["two, one of 2"])
    }
  }

  @Test func `differences tell what came and what has another place`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let (lines, continuation) = AsyncStream.makeStream(of: String.self)
      let watching = Task { try await Self.differences(db) { continuation.yield($0) } }
      var line = lines.makeAsyncIterator()
      #expect(await line.next() == "2 came, 0 have another place")
      try await db.write { conn in try Note.find(1).update { $0.title = "zero" }.execute(conn) }
      #expect(await line.next() == "0 came, 1 have another place")
      watching.cancel()
      try await watching.value
    }
  }

  @MainActor @Test func `a property holds one's own write`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let model = NotesModel(db)
      try await model.$pinned.refresh()
      try await pin(Note(id: 2, title: "two"), in: model, db)
      #expect(model.pinned.map(\.id) == [2])
    }
  }

  @Test func `the page's code is the one above and that of the examples`() throws {
    let page = try DocumentedText.blocks(of: "docs/live-queries.md")
    let tested = try DocumentedText.regions(of: #filePath)
    #expect(Set(page.named.keys) == Set(tested.keys))
    for (name, code) in tested {
      #expect(
        DocumentedText.lines(page.named[name] ?? "") == DocumentedText.lines(code), "\(name)")
    }
    let text = try String(
      contentsOf: DocumentedText.root.appending(path: "docs/live-queries.md"), encoding: .utf8)
    let parts = text.components(separatedBy: "<!-- part of ").dropFirst()
    #expect(parts.count == page.nameless.count && !parts.isEmpty)
    for part in parts {
      let file = part.components(separatedBy: " -->")[0]
      let code = part.components(separatedBy: "```")[1].dropFirst("swift\n".count)
      let source = try String(
        contentsOf: DocumentedText.root.appending(path: file), encoding: .utf8)
      let wanted = DocumentedText.lines(String(code)).joined(separator: "\n")
      #expect(DocumentedText.lines(source).joined(separator: "\n").contains(wanted), "\(file)")
    }
  }
}
