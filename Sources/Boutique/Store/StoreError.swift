/// What can go wrong in a store and its engines beside what a database reports (`BoutiqueError`).
public enum StoreError: Error, Sendable {
  /// What lies under a key cannot be read as the store's type of item; it is not touched.
  case undecodable(key: String, item: String, message: String)
  /// A change is on the disk, but could not be read back; ``Store/items`` follows as soon as it can be.
  case notReadBack(message: String)
  /// A table with the engine's name is there and is another's.
  case unusableTable(path: String, table: String, message: String)
  /// A file of an engine that keeps a file an item is not one of its own, or is damaged.
  case unusableFile(path: String, message: String)
  /// The store is gone, and with it what it was to do.
  case storeIsGone
}

extension StoreError: CustomStringConvertible {
  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .undecodable(let key, let item, let message):
      """
      what is stored under “\(key)” cannot be read as \(item): \(message); another version of the program may \
      have written it
      """
    case .notReadBack(let message):
      "the change is stored, but could not be read back: \(message); the items follow when it can be"
    case .unusableTable(let path, let table, let message):
      """
      \(path): the table “\(table)” was not made by a storage engine (\(message)); choose another file or \
      another table name
      """
    case .unusableFile(let path, let message):
      "\(path): this is no file of a storage engine, or it is damaged (\(message))"
    case .storeIsGone: "the store was released before it could do this"
    }
  }
}
