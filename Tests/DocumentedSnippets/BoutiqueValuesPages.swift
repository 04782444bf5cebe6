import Boutique
import Foundation
import Observation
import TestDatabase
import Testing

// BEGIN preferences
@MainActor @Observable
final class Preferences {
  @ObservationIgnored @StoredValue(key: "theme") var theme = "light"
  @ObservationIgnored @StoredValue(key: "recent") var recent: [String] = []
  @ObservationIgnored @StoredValue(key: "nickname") var nickname: String?
  @ObservationIgnored @SecurelyStoredValue<String>(key: "token", service: "sync") var token
}
// END preferences

/// The code of docs/stored-values.md and docs/security.md, and of the seed.
///
/// Serialized: they share the storage of values that name none.
@Suite(.serialized, .timeLimit(.minutes(1))) @MainActor
struct BoutiqueValuesPages {
  private static let directory: TestDirectory? = {
    let directory = try? TestDirectory()
    if let directory {
      SettingsStorage.default = .path(
        directory.file("settings.db"), key: .file(directory.file("keys/settings.key")))
    }
    return directory
  }()

  init() throws { _ = try #require(Self.directory) }

  private func use(_ preferences: Preferences, print: (String) -> Void) async throws {
    // BEGIN using values
    if preferences.theme == "dark" { print("dark") }  // what is stored, from the first look on

    preferences.$theme.set("dark")
    preferences.$recent.append("notes.txt")
    preferences.$recent.togglePresence("notes.txt")  // removes it, as it is there
    preferences.$nickname.set("Ada")
    preferences.$nickname.reset()
    try preferences.$token.set("secret")

    for await theme in preferences.$theme.values {  // the present one first, whoever changes it
      print(theme)
    }
    // END using values
  }

  @Test func `values are used as the page says`() async throws {
    let preferences = Preferences()
    let seen = Task { @MainActor in
      var seen: [String] = []
      try await use(preferences) { text in
        seen.append(text)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return seen
    }
    #expect(try await seen.value == ["dark"])
    #expect(preferences.recent == [])
    #expect(preferences.nickname == nil)
    #expect(preferences.token == "secret")

    preferences.$theme.reset()
    // BEGIN waiting for a commit
    let change = preferences.$theme.set("dark")
    print(preferences.theme)  // dark
    try await change.committed()  // now for every process
    // END waiting for a commit
    #expect(preferences.theme == "dark")

    // BEGIN the end of a program
    preferences.$theme.set("dark")
    try await SettingsStorage.default.synchronize()  // throws the first change that failed
    // END the end of a program
    try await SettingsStorage.default.close()
    #expect(Preferences().token == "secret")
    try await SettingsStorage.default.close()
  }

  @Test func `the seed's preferences are kept`() async throws {
    let preferences = SeedPreferences()
    #expect(preferences.userExperiencePreferences.hasSoundEffectsEnabled == false)
    preferences.userExperiencePreferences.$hasSoundEffectsEnabled.set(true)
    preferences.redPandaPreferences.$isRedPandaFan.toggle()
    try await SettingsStorage.default.synchronize()
    let again = SeedPreferences()
    #expect(again.userExperiencePreferences.hasSoundEffectsEnabled)
    #expect(!again.redPandaPreferences.isRedPandaFan)
    let theme = StoredValue(key: "seedTheme", default: SeedTheme.system)
    try await theme.set(.dark).committed()
    #expect(theme.wrappedValue == .dark)
    try await SettingsStorage.default.close()
  }

  // Compiled, not run: it would use the user's own directory.
  private func chooseGroup() {
    // BEGIN a group
    SettingsStorage.default = .shared(group: "org.example.notes")
    // END a group
  }

  private func keys(_ key: [UInt8], _ oldKey: [UInt8]) -> [SettingsStorage] {
    // BEGIN keys from elsewhere
    let path = "/var/lib/notes/settings.db"
    let file = SettingsStorage.path(path, key: .file("/etc/notes/settings.key"))
    let credential = SettingsStorage.path(path, key: .systemdCredential("settings-key"))
    let environment = SettingsStorage.path(path, key: .environment("NOTES_KEY"))
    let bytes = SettingsStorage.path(path, key: .bytes(key, previous: [oldKey]))
    // END keys from elsewhere
    return [file, credential, environment, bytes]
  }

  @Test(arguments: ["docs/stored-values.md", "docs/security.md"])
  func `every block of the page is held here`(_ page: String) throws {
    let blocks = try DocumentedText.blocks(of: page)
    let regions = try DocumentedText.regions(of: #filePath)
    #expect(blocks.nameless == [])
    #expect(!blocks.named.isEmpty)
    for (name, code) in blocks.named {
      let held = try #require(regions[name], "no region “\(name)”")
      #expect(DocumentedText.lines(code) == DocumentedText.lines(held))
    }
  }
}
