import Boutique
import BoutiqueDB
import Foundation
import Glibc
import TestDatabase
import Testing

/// What becomes of keys when power, processes and programs fail.
@Suite(.timeLimit(.minutes(2))) @MainActor
struct SecureKeyTests {
  /// Copies files in another process: a descriptor of this one's would drop SQLite's locks.
  private func copy(_ path: String, to target: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/cp")
    process.arguments = [path, target]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func refusal(of token: SecurelyStoredValue<String>) -> SecureValueError? {
    do {
      try token.set("x")
      return nil
    } catch {
      return error as? SecureValueError
    }
  }

  @Test func `what is left of the database after a power cut opens with the key that is left`()
    async throws
  {
    try await withSecrets { open, directory in
      let token = SecurelyStoredValue<String>(key: "token", storage: open())
      try await token.set("x").committed()
      #expect(try await open().rotateKey() == 1)
      // A log that was never synced is gone.
      try copy(directory.file("settings.db"), to: directory.file("left.db"))
      let left = SettingsStorage.path(
        directory.file("left.db"), key: .file(directory.file("keys/settings.key")))
      let same = SecurelyStoredValue<String>(key: "token", storage: left)
      #expect(try same.get() == "x")
      try await left.close()
    }
  }

  @Test func `given keys may be taken away when rotation has returned`() async throws {
    try await withSecrets { _, directory in
      let (old, new) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
      let path = directory.file("settings.db")
      let before = SettingsStorage.path(path, key: .bytes(old))
      let token = SecurelyStoredValue<String>(key: "token", storage: before)
      try await token.set("x").committed()
      try await before.close()
      let rotating = SettingsStorage.path(path, key: .bytes(new, previous: [old]))
      #expect(try await rotating.rotateKey() == 1)
      try copy(path, to: directory.file("left.db"))
      try await rotating.close()
      let left = SettingsStorage.path(directory.file("left.db"), key: .bytes(new))
      #expect(try SecurelyStoredValue<String>(key: "token", storage: left).get() == "x")
      try await left.close()
    }
  }

  @Test func `somebody who reads an older state does not keep a rotation from its end`()
    async throws
  {
    try await withSecrets { open, directory in
      let path = directory.file("settings.db")
      let file = directory.file("keys/settings.key")
      let token = SecurelyStoredValue<String>(key: "token", storage: open())
      try await token.set("x").committed()
      let db = try await BoutiqueDB.open(path: path)
      let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reading = Task.detached {
        try await db.read { connection in
          _ = try connection.query("SELECT count(*) FROM stored_secret")
          began.signal()
          _ = end.wait(timeout: .now() + 60)
        }
      }
      try await waitUntil("the reader") { began.wait(timeout: .now()) == .success }
      #expect(try await open().rotateKey() == 1)
      #expect(FileManager.default.contents(atPath: file)?.count == 32)
      #expect(try token.get() == "x")
      end.signal()
      try await reading.value
      await db.close()
      try await open().rotateKey()
      #expect(FileManager.default.contents(atPath: file)?.count == 32)
      #expect(try token.get() == "x")
    }
  }

  @Test(arguments: ["open", "rotate"])
  func `what a killed process left of keys is swept, but not what a living one writes`(
    _ how: String
  ) async throws {
    try await withSecrets { open, directory in
      let keys = directory.file("keys")
      let token = SecurelyStoredValue<String>(key: "token", storage: open())
      try await token.set("x").committed()
      try await open().close()
      let key = try #require(FileManager.default.contents(atPath: keys + "/settings.key"))
      let dead = keys + "/.settings.key.\(getpid())-dead.new"
      try key.write(to: URL(filePath: dead))
      // Killed between link and unlink: the key file itself under its first name.
      let first = keys + "/.settings.key.1-first.new"
      try #require(link(keys + "/settings.key", first) == 0)
      let living = keys + "/.settings.key.1-living.new"
      try key.write(to: URL(filePath: living))
      let descriptor = Glibc.open(living, O_RDONLY)
      try #require(flock(descriptor, LOCK_EX) == 0)
      defer { close(descriptor) }
      let watch = Glibc.open(dead, O_RDONLY)
      defer { close(watch) }

      if how == "open" { #expect(try token.get() == "x") } else { try await open().rotateKey() }
      let left = try FileManager.default.contentsOfDirectory(atPath: keys).sorted()
      #expect(left == [".settings.key.1-living.new", "settings.key"])
      var bytes = [UInt8](repeating: 1, count: 32)
      #expect(pread(watch, &bytes, 32, 0) == 32)
      #expect(bytes.allSatisfy { $0 == 0 })
      #expect(try token.get() == "x")
      try await open().close()
      #expect(try token.get() == "x")
    }
  }

  @Test func `no text of 32 characters and no zeros are taken for a key`() async throws {
    try await withSecrets { _, directory in
      let path = directory.file("settings.db")
      @MainActor func attempt(_ key: SecureKeySource) async throws -> SecureValueError? {
        let storage = SettingsStorage.path(path, key: key)
        let token = SecurelyStoredValue<String>(key: "token", storage: storage)
        let error = refusal(of: token)
        try await storage.close()
        return error
      }
      func isNotGiven(_ error: SecureValueError?) -> Bool {
        if case .keyNotGiven = error { true } else { false }
      }
      let name = "BOUTIQUE_TEST_TEXT_\(getpid())"
      defer { unsetenv(name) }
      let texts = [
        "correct horse battery staple 123",
        String(repeating: "0", count: 64),
        Data(count: 32).base64EncodedString(),
      ]
      for text in texts {
        setenv(name, text, 1)
        let error = try await attempt(.environment(name))
        #expect(isNotGiven(error), "\(text)")
      }
      let first = try await attempt(.bytes([UInt8](repeating: 0, count: 32)))
      #expect(isNotGiven(first))
      let good = [UInt8](repeating: 1, count: 32)
      let zeros = [UInt8](repeating: 0, count: 32)
      let error = try await attempt(.bytes(good, previous: [zeros]))
      #expect(isNotGiven(error))
    }
  }

  @Test(arguments: ["../../escaped", "a/b", "..", "", "a/\u{301}b"])
  func `a group that is no plain name makes no key file`(_ group: String) async throws {
    let storage = SettingsStorage.shared(group: group)
    let token = SecurelyStoredValue<String>(key: "token", storage: storage)
    let error = refusal(of: token)
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("plain name"))
    #expect(throws: (any Error).self) { try BoutiqueDB.sharedURL(group: group) }
    try? await storage.close()
  }

  @Test func `without HOME keys lie in the home directory of the user's entry`() throws {
    #expect(try BoutiqueDirectory.data([:]) == NSHomeDirectory() + "/.local/share")
    #expect(try BoutiqueDirectory.data(["HOME": "/h"]) == "/h/.local/share")
    #expect(try BoutiqueDirectory.data(["HOME": "/h", "XDG_DATA_HOME": "/d"]) == "/d")
    #expect(throws: SecureValueError.self) { try BoutiqueDirectory.data(["HOME": "h"]) }
  }
}
