import Boutique
import Foundation
import Observation
import Synchronization
import TestDatabase
import Testing

struct Theme: Codable, Sendable, Equatable {
  var name = "light"
  var size = 12
}

/// Every kind of value, in one storage.
@MainActor
struct Values {
  @StoredValue<Bool> var flag: Bool
  @StoredValue<String?> var name: String?
  @StoredValue<[String]> var list: [String]
  @StoredValue<[String: Int]> var counts: [String: Int]
  @StoredValue<Theme> var theme: Theme
  @StoredValue<Double> var number: Double

  init(_ storage: SettingsStorage) {
    _flag = StoredValue(wrappedValue: false, key: "flag", storage: storage)
    _name = StoredValue(key: "name", storage: storage)
    _list = StoredValue(key: "list", default: [], storage: storage)
    _counts = StoredValue(key: "counts", default: [:], storage: storage)
    _theme = StoredValue(key: "theme", default: Theme(), storage: storage)
    _number = StoredValue(key: "number", default: 1.5, storage: storage)
  }
}

/// Gives a test a settings file of its own, and closes it.
@MainActor
func withSettings(_ body: @MainActor (SettingsStorage, TestDirectory) async throws -> Void)
  async throws
{
  let directory = try TestDirectory()
  let storage = SettingsStorage.path(directory.file("settings.db"))
  do {
    try await body(storage, directory)
  } catch {
    try? await storage.close()
    throw error
  }
  try? await storage.close()
  try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  try await TestDatabaseCheck.isWhole(path: directory.file("settings.db"))
}

@Suite(.timeLimit(.minutes(2))) @MainActor
struct ValueTests {
  @Test func `a value is its default, then what is set, then its default again`() async throws {
    try await withSettings { storage, directory in
      let values = Values(storage)
      #expect(values.flag == false)
      #expect(values.$flag.isLoaded)
      try await values.$flag.set(true).committed()
      #expect(values.flag == true)
      values.$flag.reset()
      #expect(values.flag == false)
      try await values.$flag.set(true).committed()
      #expect(values.flag == true)
      // What the file holds, seen by somebody else.
      try await storage.close()
      let again = Values(.path(directory.file("settings.db")))
      #expect(again.flag == true)
      #expect(again.number == 1.5)
    }
  }

  @Test func `a nil default is set and reset`() async throws {
    try await withSettings { storage, _ in
      let values = Values(storage)
      #expect(values.name == nil)
      try await values.$name.set("Ada").committed()
      #expect(values.name == "Ada")
      try await values.$name.reset().committed()
      #expect(values.name == nil)
      // A stored nil is a value of its own where the default is not nil.
      let other = StoredValue<Int?>(wrappedValue: 7, key: "other", storage: storage)
      #expect(other.wrappedValue == 7)
      try await other.set(nil).committed()
      #expect(other.wrappedValue == nil)
      try await other.reset().committed()
      #expect(other.wrappedValue == 7)
    }
  }

  @Test func `toggling, appending and updating change what is stored`() async throws {
    try await withSettings { storage, directory in
      let values = Values(storage)
      values.$flag.toggle()
      #expect(values.flag)
      for word in ["b", "a", "c"] { values.$list.append(word) }
      #expect(values.list == ["b", "a", "c"])
      values.$list.togglePresence("a")
      values.$list.togglePresence("d")
      #expect(values.list == ["b", "c", "d"])
      #expect(values.$list.replace("c", with: "x"))
      #expect(!values.$list.replace("nobody", with: "y"))
      #expect(values.list == ["b", "x", "d"])
      values.$counts.update(key: "one", value: 1)
      values.$counts.update(key: "two", value: 2)
      values.$counts.update(key: "one", value: nil)
      #expect(values.counts == ["two": 2])
      values.$theme.set(\.size, to: 20)
      #expect(values.theme == Theme(name: "light", size: 20))
      values.$flag.binding.wrappedValue = false
      try await storage.synchronize()
      #expect(values.$flag.error == nil)
      try await storage.close()

      let again = Values(.path(directory.file("settings.db")))
      #expect(again.flag == false)
      #expect(again.list == ["b", "x", "d"])
      #expect(again.counts == ["two": 2])
      #expect(again.theme == Theme(name: "light", size: 20))
    }
  }

  @Test func `removing an absent key stores nothing`() async throws {
    try await withSettings { storage, directory in
      let values = Values(storage)
      try await values.$counts.update(key: "nobody", value: nil).committed()
      try await values.$flag.set(true).committed()
      try await storage.close()
      let rows = try readRows(directory.file("settings.db"))
      #expect(rows == ["flag": "true"])
    }
  }

  @Test func `numbers that JSON has not, and the largest ones, come back as they were`()
    async throws
  {
    try await withSettings { storage, directory in
      let numbers = [Double.infinity, -.infinity, -0.0, .leastNonzeroMagnitude, 0.1, 1e300]
      let list = StoredValue<[Double]>(key: "numbers", default: [], storage: storage)
      let nan = StoredValue<Double>(key: "nan", default: 0, storage: storage)
      let integers = StoredValue<[Int64]>(key: "integers", default: [], storage: storage)
      let unsigned = StoredValue<UInt64>(key: "unsigned", default: 0, storage: storage)
      let dates = StoredValue<[Date]>(key: "dates", default: [], storage: storage)
      let someDates = (0..<1000).map { _ in
        Date(timeIntervalSince1970: .random(in: -4e9...4e9))
      }
      list.set(numbers)
      nan.set(.nan)
      integers.set([.min, .max, 0])
      unsigned.set(.max)
      dates.set(someDates)
      try await storage.synchronize()
      try await storage.close()
      #expect(list.wrappedValue == numbers)
      #expect(list.wrappedValue[2].sign == .minus)
      #expect(nan.wrappedValue.isNaN)
      #expect(integers.wrappedValue == [.min, .max, 0])
      #expect(unsigned.wrappedValue == .max)
      #expect(dates.wrappedValue == someDates)
    }
  }

  @Test func `two values with one key agree`() async throws {
    try await withSettings { storage, directory in
      let one = StoredValue<Int>(key: "n", default: 1, storage: storage)
      let two = StoredValue<Int>(
        key: "n", default: 2, storage: .path(directory.file("settings.db")))
      #expect(one.wrappedValue == 1)
      #expect(two.wrappedValue == 2)
      one.set(5)
      #expect(two.wrappedValue == 5)
      two.modify { $0 += 1 }
      #expect(one.wrappedValue == 6)
      try await storage.synchronize()
      #expect(one.wrappedValue == 6)
      #expect(two.wrappedValue == 6)
    }
  }

  @Test func `the sequence begins with the present value and tells each change once`() async throws
  {
    try await withSettings { storage, _ in
      let values = Values(storage)
      var found = values.$list.values.makeAsyncIterator()
      #expect(await found.next() == [])
      values.$list.append("a")
      #expect(await found.next() == ["a"])
      try await values.$list.append("b").committed()
      #expect(await found.next() == ["a", "b"])
      try await values.$list.set(["a", "b"]).committed()
      values.$list.reset()
      #expect(await found.next() == [])
    }
  }

  @Test func `a slow reader of the sequence gets the newest values`() async throws {
    try await withSettings { storage, _ in
      let number = StoredValue<Int>(key: "n", default: 0, storage: storage)
      var found = number.values.makeAsyncIterator()
      for n in 1...1000 { number.set(n) }
      let first = await found.next()
      #expect(first == 1000 - 63)
      var last = first
      while last != 1000 { last = await found.next() }
      try await storage.synchronize()
      #expect(number.wrappedValue == 1000)
    }
  }

  @Test func `reading is observed and a change is told`() async throws {
    try await withSettings { storage, _ in
      let values = Values(storage)
      let told = Mutex(0)
      withObservationTracking {
        _ = values.flag
      } onChange: {
        told.withLock { $0 += 1 }
      }
      values.$flag.toggle()
      #expect(told.withLock(\.self) == 1)
      try await storage.synchronize()
    }
  }

  @Test func `a program without tasks waits for its last change on the main thread`() async throws {
    try await withSettings { storage, directory in
      let number = StoredValue<Int>(key: "n", default: 0, storage: storage)
      let stored = try storeAndLook(number, storage, directory.file("settings.db"))
      #expect(stored == ["n": "500"])
    }
  }

  @Test func `ten thousand changes at once are shown and stored`() async throws {
    try await withSettings { storage, directory in
      let number = StoredValue<Int>(key: "n", default: 0, storage: storage)
      let other = StoredValue<Int>(key: "other", default: 0, storage: storage)
      for n in 1...10_000 {
        number.modify { $0 += 1 }
        if n % 100 == 0 { other.set(n) }
      }
      #expect(number.wrappedValue == 10_000)
      try await storage.synchronize()
      #expect(number.wrappedValue == 10_000)
      let rows = try readInSync(directory.file("settings.db"))
      #expect(rows == ["n": "10000", "other": "10000"])
    }
  }

  private func readInSync(_ path: String) throws -> [String: String] { try readRows(path) }

  private func storeAndLook(
    _ number: StoredValue<Int>, _ storage: SettingsStorage, _ path: String
  ) throws -> [String: String] {
    for n in 1...500 { number.set(n) }
    try storage.flush()
    return try readRows(path)
  }

  @Test func `a value in memory needs no file`() async throws {
    let storage = SettingsStorage.memory()
    let values = Values(storage)
    #expect(values.flag == false)
    try await values.$flag.toggle().committed()
    #expect(values.flag)
    try await storage.close()
  }
}
