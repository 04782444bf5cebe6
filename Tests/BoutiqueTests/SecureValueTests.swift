import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

struct Account: Codable, Sendable, Equatable {
  var user: String
  var password: String
}

/// Gives a test a settings file and a key file of its own, and closes.
@MainActor
func withSecrets(
  _ body: @MainActor (_ open: () -> SettingsStorage, TestDirectory) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  let open = {
    SettingsStorage.path(
      directory.file("settings.db"), key: .file(directory.file("keys/settings.key")))
  }
  do {
    try await body(open, directory)
  } catch {
    try? await open().close()
    throw error
  }
  try? await open().close()
  try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
}

/// Returns the sealed rows of a settings file, by key.
func readSealed(_ path: String) throws -> [String: [UInt8]] {
  let rows = try BoutiqueDB.readOnce(path: path) { connection in
    try connection.query("SELECT key, sealed FROM stored_secret").compactMap {
      row -> (String, [UInt8])? in
      guard case .blob(let bytes) = row[1] else { return nil }
      return (try row.decode(0), bytes)
    }
  }
  return Dictionary(uniqueKeysWithValues: rows ?? [])
}

/// Puts bytes in the place of a sealed row, as somebody without the key would.
func forge(_ path: String, key: String, _ bytes: [UInt8]) async throws {
  let db = try await BoutiqueDB.open(path: path)
  try await db.write { connection in
    try connection.execute(
      "UPDATE stored_secret SET sealed = ? WHERE key = ?", SQLValue.blob(bytes), key)
  }
  await db.close()
}

@Suite(.timeLimit(.minutes(2))) @MainActor
struct SecureValueTests {
  @Test func `a secret is nil, set, overwritten and removed, and survives`() async throws {
    try await withSecrets { open, _ in
      let token = SecurelyStoredValue<String>(key: "token", service: "sync", storage: open())
      #expect(token.wrappedValue == nil)
      #expect(token.error == nil)
      try await token.set("one").committed()
      #expect(token.wrappedValue == "one")
      try await token.set("two").committed()
      #expect(token.wrappedValue == "two")
      try await open().close()

      let again = SecurelyStoredValue<String>(key: "token", service: "sync", storage: open())
      #expect(try again.get() == "two")
      try await again.remove().committed()
      #expect(again.wrappedValue == nil)
      try await again.set("three").committed()
      try await again.set(nil).committed()
      #expect(again.wrappedValue == nil)
      try await open().close()
      #expect(try token.get() == nil)
    }
  }

  @Test func `service and group keep values of one key apart`() async throws {
    try await withSecrets { open, _ in
      let plain = SecurelyStoredValue<String>(key: "k", storage: open())
      let service = SecurelyStoredValue<String>(key: "k", service: "s", storage: open())
      let group = SecurelyStoredValue<String>(key: "k", service: "s", group: "g", storage: open())
      try plain.set("plain")
      try service.set("service")
      try group.set("group")
      try await open().close()
      #expect(plain.wrappedValue == "plain")
      #expect(service.wrappedValue == "service")
      #expect(group.wrappedValue == "group")
    }
  }

  @Test func `the usual changes begin with nothing`() async throws {
    try await withSecrets { open, _ in
      let flag = SecurelyStoredValue<Bool>(key: "flag", storage: open())
      let list = SecurelyStoredValue<[String]>(key: "list", storage: open())
      let counts = SecurelyStoredValue<[String: Int]>(key: "counts", storage: open())
      let account = SecurelyStoredValue<Account>(key: "account", storage: open())
      try flag.toggle()
      #expect(flag.wrappedValue == true)
      try flag.toggle()
      #expect(flag.wrappedValue == false)
      try list.append("a")
      try list.append("b")
      try list.togglePresence("a")
      try list.togglePresence("c")
      #expect(try list.replace("c", with: "d"))
      #expect(try !list.replace("nobody", with: "e"))
      try counts.update(key: "x", value: nil)
      #expect(counts.wrappedValue == nil)
      try counts.update(key: "x", value: 1)
      try counts.update(key: "y", value: 2)
      try counts.update(key: "x", value: nil)
      #expect(throws: SecureValueError.self) { try account.set(\.password, to: "p") }
      try account.set(Account(user: "u", password: "p"))
      try account.set(\.password, to: "q")
      try await open().close()
      #expect(flag.wrappedValue == false)
      #expect(list.wrappedValue == ["b", "d"])
      #expect(counts.wrappedValue == ["y": 2])
      #expect(account.wrappedValue == Account(user: "u", password: "q"))
    }
  }

  @Test func `files hold no plain text, true is as long as false, and nothing repeats`()
    async throws
  {
    try await withSecrets { _, directory in
      let secret = "correct horse battery staple"
      var configuration = BoutiqueConfiguration()
      // Whole rows before and after each change.
      configuration.captureModes = ["stored_secret": .full, "stored_value": .full]
      let db = try await BoutiqueDB.open(
        path: directory.file("settings.db"), configuration: configuration)
      let storage = SettingsStorage.database(
        db, key: .file(directory.file("keys/settings.key")))
      let one = SecurelyStoredValue<String>(key: "one", storage: storage)
      let two = SecurelyStoredValue<String>(key: "two", storage: storage)
      let yes = SecurelyStoredValue<Bool>(key: "yes", storage: storage)
      let no = SecurelyStoredValue<Bool>(key: "no", storage: storage)
      let plain = StoredValue<String>(key: "plain", default: "", storage: storage)
      for _ in 0..<3 {
        try one.set(secret)
        try two.set(secret)
        plain.set("visible text")
        try await storage.synchronize()
        try one.set("another " + secret)
      }
      try one.set(secret)
      try yes.set(true)
      try no.set(false)
      try await storage.synchronize()
      var found: [String: Set<String>] = [:]
      for name in ["settings.db", "settings.db-wal", "settings.db-shm", "settings.db-lock"] {
        // Through a copy: this process has the database open.
        let copy = directory.file("keys/copy-" + name)
        let cp = try Process.run(
          URL(filePath: "/bin/cp"), arguments: [directory.file(name), copy])
        cp.waitUntilExit()
        let data = FileManager.default.contents(atPath: copy) ?? Data()
        for text in [secret, "battery", "visible text"] where data.range(of: Data(text.utf8)) != nil
        {
          found[text, default: []].insert(name)
        }
      }
      #expect(found == ["visible text": ["settings.db-wal"]])
      await db.close()
      let sealed = try readSealed(directory.file("settings.db"))
      #expect(sealed["yes"]?.count == sealed["no"]?.count)
      #expect(
        sealed["one"].map { Array($0.dropFirst(17)) }
          != sealed["two"].map { Array($0.dropFirst(17)) })
      let key = try #require(
        FileManager.default.contents(atPath: directory.file("keys/settings.key")))
      #expect(key.count == 32)
    }
  }

  @Test func `the key file has mode 0600 in a directory of mode 0700`() async throws {
    try await withSecrets { open, directory in
      let token = SecurelyStoredValue<String>(key: "token", storage: open())
      try token.set("x")
      #expect(try mode(directory.file("keys/settings.key")) == 0o600)
      #expect(try mode(directory.file("keys")) == 0o700)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: directory.file("keys")) == [
          "settings.key"
        ])
    }
  }

  enum Harm: CaseIterable {
    case changed, cutShort, cutByBlock, empty, moved, version, keyID, text
  }

  @Test(arguments: Harm.allCases)
  func `what was not sealed here is an error and stays until it is set`(_ harm: Harm) async throws {
    try await withSecrets { open, directory in
      let path = directory.file("settings.db")
      let one = SecurelyStoredValue<[String]>(key: "one", storage: open())
      let two = SecurelyStoredValue<[String]>(key: "two", storage: open())
      try one.set([String(repeating: "a", count: 100)])
      try two.set(["b"])
      try await open().close()
      let sealed = try readSealed(path)
      var bytes = try #require(sealed["one"])
      let other = try #require(sealed["two"])
      switch harm {
      case .changed: bytes[bytes.count - 20] ^= 1
      case .cutShort: bytes.removeLast(5)
      case .cutByBlock: bytes.removeLast(32)
      case .empty: bytes = []
      case .moved: bytes = other
      case .version: bytes[0] = 9
      case .keyID: bytes[1] ^= 1
      case .text: bytes = Array("plain text".utf8)
      }
      try await forge(path, key: "one", bytes)

      #expect(one.wrappedValue == nil)
      #expect(!one.isLoaded)
      let found = #expect(throws: SecureValueError.self) { try one.get() }
      switch (harm, found) {
      case (.changed, .tampered), (.cutByBlock, .tampered), (.cutShort, .truncated(_, _)),
        (.empty, .truncated(_, 0)), (.moved, .misplaced), (.version, .unknownFormat(_, 9)),
        (.keyID, .wrongKey), (.text, .unknownFormat):
        break
      default: Issue.record("\(harm): \(String(describing: found))")
      }
      #expect("\(try #require(one.error))" == "\(try #require(found))")
      // Changes of a part do not get through; the row stays as it is.
      #expect(throws: SecureValueError.self) { try one.append("c") }
      #expect(two.wrappedValue == ["b"])
      try await open().synchronize()
      #expect(try readSealed(path)["one"] == bytes)
      try await one.set(["new"]).committed()
      #expect(try one.get() == ["new"])
      #expect(one.error == nil)
    }
  }

  @Test func `another key is an error, never nil alone`() async throws {
    try await withSecrets { _, directory in
      let path = directory.file("settings.db")
      let mine = SettingsStorage.path(path, key: .bytes([UInt8](repeating: 1, count: 32)))
      let other = SettingsStorage.path(path, key: .bytes([UInt8](repeating: 2, count: 32)))
      let both = SettingsStorage.path(
        path,
        key: .bytes(
          [UInt8](repeating: 2, count: 32), previous: [[UInt8](repeating: 1, count: 32)]))
      let one = SecurelyStoredValue<String>(key: "k", storage: mine)
      try await one.set("mine").committed()
      let two = SecurelyStoredValue<String>(key: "k", storage: other)
      let found = #expect(throws: SecureValueError.self) { try two.get() }
      guard case .wrongKey? = found else { throw try #require(found) }
      // Given both keys, it is opened, and sealed anew with the first.
      let three = SecurelyStoredValue<String>(key: "k", storage: both)
      #expect(try three.get() == "mine")
      #expect(try await both.rotateKey() == 1)
      try await mine.synchronize()
      try await mine.close()
      #expect(try two.get() == "mine")
      #expect(throws: SecureValueError.self) { try one.get() }
    }
  }

  @Test func `a damaged, open or misplaced key file is an error and is left as it is`()
    async throws
  {
    try await withSecrets { open, directory in
      let token = SecurelyStoredValue<String>(key: "token", storage: open())
      try await token.set("x").committed()
      try await open().close()
      let file = directory.file("keys/settings.key")
      let key = try #require(FileManager.default.contents(atPath: file))

      @MainActor func found(_ change: @MainActor () throws -> Void) async throws
        -> SecureValueError?
      {
        try change()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let before = FileManager.default.contents(atPath: file)
        let value = SecurelyStoredValue<String>(key: "token", storage: open())
        #expect(value.wrappedValue == nil)
        let error = #expect(throws: SecureValueError.self) { try value.get() }
        #expect(throws: SecureValueError.self) { try value.set("y") }
        #expect(FileManager.default.contents(atPath: file) == before)
        try await open().close()
        return error
      }
      func put(_ data: Data, mode: Int = 0o600) throws {
        try? FileManager.default.removeItem(atPath: file)
        try data.write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      }

      #expect(try await found { try put(Data()) } == .keyFileDamaged(path: file, bytes: 0))
      #expect(
        try await found { try put(key.prefix(31)) } == .keyFileDamaged(path: file, bytes: 31))
      #expect(
        try await found { try put(Data(count: 32)) } == .keyFileDamaged(path: file, bytes: 32))
      #expect(try await found { try put(key + [1]) } == .keyFileDamaged(path: file, bytes: 33))
      guard case .permissionsTooOpen? = try await found({ try put(key, mode: 0o640) }) else {
        Issue.record("a file that the group may read was accepted")
        return
      }
      guard
        case .keyFileUnusable? = try await found({
          try? FileManager.default.removeItem(atPath: file)
          try put(key)
          try FileManager.default.moveItem(atPath: file, toPath: file + "2")
          try FileManager.default.createSymbolicLink(
            atPath: file, withDestinationPath: file + "2")
        })
      else {
        Issue.record("a symbolic link was followed")
        return
      }
      guard
        case .permissionsTooOpen? = try await found({
          try put(key)
          try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: directory.file("keys"))
        })
      else {
        Issue.record("a directory that anybody may write to was accepted")
        return
      }
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: directory.file("keys"))
      // Lost, while there is something that was sealed with it.
      #expect(
        try await found { try? FileManager.default.removeItem(atPath: file) }
          == .keyMissing(path: file))
      try put(key)
      #expect(try token.get() == "x")
    }
  }

  @Test func `a key in the environment or a credential is used, and its absence is told`()
    async throws
  {
    try await withSecrets { _, directory in
      let path = directory.file("settings.db")
      let name = "BOUTIQUE_TEST_KEY_\(getpid())"
      let storage = SettingsStorage.path(path, key: .environment(name))
      let one = SecurelyStoredValue<String>(key: "one", storage: storage)
      #expect(throws: SecureValueError.self) { try one.set("x") }
      setenv(name, "not a key", 1)
      #expect(throws: SecureValueError.self) { try one.set("x") }
      let key = (0..<32).map { UInt8($0) }
      setenv(name, key.map { String(format: "%02x", $0) }.joined(), 1)
      try await one.set("x").committed()
      try await storage.close()

      // The same key in another spelling.
      setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
      try Data(key).base64EncodedString().write(
        toFile: directory.file("settings-key"), atomically: true, encoding: .utf8)
      let other = SettingsStorage.path(path, key: .systemdCredential("settings-key"))
      let two = SecurelyStoredValue<String>(key: "one", storage: other)
      #expect(try two.get() == "x")
      let missing = SettingsStorage.path(path, key: .systemdCredential("nobody"))
      #expect(throws: SecureValueError.self) {
        try SecurelyStoredValue<String>(key: "one", storage: missing).get()
      }
      try await other.close()
    }
  }

  @Test func `rotation seals everything anew and changes nothing that is seen`() async throws {
    try await withSecrets { open, directory in
      let path = directory.file("settings.db")
      let file = directory.file("keys/settings.key")
      let values = (0..<20).map {
        SecurelyStoredValue<Int>(key: "n\($0)", storage: open())
      }
      for (number, value) in values.enumerated() { try value.set(number) }
      try await open().synchronize()
      let before = try readSealed(path)
      let keyBefore = FileManager.default.contents(atPath: file)
      #expect(try await open().rotateKey() == 20)
      let after = try readSealed(path)
      let keyAfter = FileManager.default.contents(atPath: file)
      #expect(keyBefore != keyAfter)
      #expect(keyAfter?.count == 32)
      for (key, bytes) in before { #expect(after[key] != bytes) }
      for (number, value) in values.enumerated() { #expect(try value.get() == number) }
      try await open().close()
      for (number, value) in values.enumerated() { #expect(try value.get() == number) }
      // What cannot be opened ends it before anything is changed.
      try await forge(path, key: "n3", Array(after["n3", default: []].dropLast(32)))
      await #expect(throws: SecureValueError.self) { try await open().rotateKey() }
      #expect(FileManager.default.contents(atPath: file) == keyAfter)
      #expect(try readSealed(path)["n4"] == after["n4"])
    }
  }

  @Test func `a secret in memory has a key that lives as long`() async throws {
    let storage = SettingsStorage.memory()
    let token = SecurelyStoredValue<String>(key: "token", storage: storage)
    #expect(token.wrappedValue == nil)
    try await token.set("x").committed()
    #expect(try token.get() == "x")
    try await storage.close()
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? Int) ?? -1
  }
}
