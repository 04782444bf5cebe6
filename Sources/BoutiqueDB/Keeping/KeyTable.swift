import Glibc

/// The sort keys of the rows of a list, by row id, and the rows' order.
///
/// The keys lie one after the other in one piece of memory, so that a list of 100,000 rows is not as many
/// allocations.
struct KeyTable: Sendable {
  private struct Place: Sendable {
    var start: Int
    var count: Int
  }

  /// The row ids, in the order of the list.
  private(set) var rowIDs: [Int64] = []
  private var places: [Int64: Place] = [:]
  private var storage: [UInt8] = []
  /// Bytes of keys that have gone.
  private var garbage = 0

  var count: Int { rowIDs.count }

  /// Whether there is more waste than content.
  var isWasteful: Bool { garbage > 1 << 16 && garbage > storage.count / 2 }

  func contains(_ rowID: Int64) -> Bool { places[rowID] != nil }

  /// Adds a row at the end.
  ///
  /// - Returns: false, and adds nothing, when its key does not come after the last one.
  mutating func append(_ rowID: Int64, _ key: [UInt8]) -> Bool {
    if let last = rowIDs.last, compare(last, key) >= 0 { return false }
    guard places[rowID] == nil else { return false }
    setKey(key, of: rowID)
    rowIDs.append(rowID)
    return true
  }

  mutating func setKey(_ key: [UInt8], of rowID: Int64) {
    if let old = places[rowID] { garbage += old.count }
    places[rowID] = Place(start: storage.count, count: key.count)
    storage.append(contentsOf: key)
  }

  mutating func removeKey(of rowID: Int64) {
    if let old = places.removeValue(forKey: rowID) { garbage += old.count }
  }

  func key(of rowID: Int64) -> [UInt8]? {
    places[rowID].map { Array(storage[$0.start..<$0.start + $0.count]) }
  }

  /// Changes the order; the keys have been set before.
  mutating func reorder(_ edit: ListEdit<Int64>) { edit.apply(to: &rowIDs) }

  /// Drops the rows from a place on.
  mutating func truncate(to count: Int) {
    for rowID in rowIDs[count...] { removeKey(of: rowID) }
    rowIDs.removeLast(rowIDs.count - count)
  }

  /// Drops the keys that have gone from memory.
  mutating func compact() {
    var packed: [UInt8] = []
    packed.reserveCapacity(storage.count - garbage)
    for rowID in rowIDs {
      guard let place = places[rowID] else { continue }
      places[rowID] = Place(start: packed.count, count: place.count)
      packed.append(contentsOf: storage[place.start..<place.start + place.count])
    }
    storage = packed
    garbage = 0
  }

  /// Returns how many rows come before a key.
  func lowerBound(of key: [UInt8]) -> Int {
    var low = 0
    var high = rowIDs.count
    while low < high {
      let middle = (low + high) / 2
      if compare(rowIDs[middle], key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Compares a row's key with another.
  func compare(_ rowID: Int64, _ key: [UInt8]) -> Int {
    guard let place = places[rowID] else { return -1 }
    return storage.withUnsafeBytes { all in
      key.withUnsafeBytes {
        compareBytes(
          UnsafeRawBufferPointer(rebasing: all[place.start..<place.start + place.count]), $0)
      }
    }
  }
}

/// Compares byte by byte; of two that begin alike the shorter one comes first.
func compareBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  if let left = a.baseAddress, let right = b.baseAddress {
    let order = memcmp(left, right, min(a.count, b.count))
    if order != 0 { return Int(order) }
  }
  return a.count - b.count
}

/// Compares byte by byte; of two that begin alike the shorter one comes first.
func compareBytes(_ a: [UInt8], _ b: [UInt8]) -> Int {
  a.withUnsafeBytes { a in b.withUnsafeBytes { compareBytes(a, $0) } }
}
