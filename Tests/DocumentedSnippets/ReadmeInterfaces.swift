import Blackbird
import Boutique
import Foundation
import Observation
import TestDatabase
import Testing

enum ReadmeInterfaces {
  // BEGIN boutique
  @MainActor @Observable
  final class NotesController {
    @ObservationIgnored @Stored(in: .notes) var notes
    @ObservationIgnored @StoredValue(key: "theme") var theme = "light"
    @ObservationIgnored @SecurelyStoredValue<String>(key: "token") var token

    func save(_ note: Note) async throws { try await $notes.insert(note) }
  }
  // END boutique

  /// Returns what the example reads, and how many changes it hears of.
  static func blackbird(path: String, print: @escaping @Sendable (String) -> Void) async throws
    -> Int
  {
    // BEGIN blackbird
    struct Post: BlackbirdModel {
      @BlackbirdColumn var id: Int
      @BlackbirdColumn var title: String
      @BlackbirdColumn var url: URL?
    }

    let db = try Blackbird.Database(path: path)  // any number of processes may do this
    let listener = Post.changePublisher(in: db, columns: [\.$title]).sink { change in
      if change.hasPrimaryKeyChanged(1) { print("the title of post 1 has changed") }
    }
    try await Post(id: 1, title: "Sports", url: nil).write(to: db)
    let posts = try await Post.read(
      from: db, matching: \.$title == "Sports" && \.$url == nil, orderBy: .ascending(\.$id))
    // END blackbird
    withExtendedLifetime(listener) {}
    await db.close()
    return posts.count
  }
}

/// The README's examples of the other two interfaces.
@Suite struct ReadmeInterfaceTests {
  @Test(.timeLimit(.minutes(1))) func `the example of Blackbird reads and hears what it wrote`()
    async throws
  {
    let directory = try TestDirectory()
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    let count = try await ReadmeInterfaces.blackbird(path: directory.file("posts.db")) {
      continuation.yield($0)
    }
    #expect(count == 1)
    for await line in lines {
      #expect(line == "the title of post 1 has changed")
      break
    }
  }

  @Test func `the README shows the examples that are tested`() throws {
    let readme = try DocumentedText.blocks(of: "README.md").named
    let tested = try DocumentedText.regions(of: #filePath)
    let blackbird = DocumentedText.lines(readme["blackbird"] ?? "")
    #expect(blackbird.first == "import Blackbird")
    #expect(Array(blackbird.dropFirst()) == DocumentedText.lines(tested["blackbird"] ?? "none"))
    // The note and its store are those of the page on stores.
    let page = try DocumentedText.blocks(of: "docs/boutique.md").named["beginning"] ?? ""
    let shared = DocumentedText.lines(page).prefix { !$0.hasPrefix("@MainActor") }
    #expect(
      DocumentedText.lines(readme["boutique"] ?? "")
        == ["import Boutique", "import Observation"] + shared
        + DocumentedText.lines(tested["boutique"] ?? "none"))
  }
}
