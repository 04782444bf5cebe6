import Synchronization

/// Something that another part of the library keeps for one database.
protocol DatabaseAttachment: AnyObject, Sendable {
  /// Called once, before the database closes.
  func databaseWillClose() async
}

extension DatabaseAttachment {
  func databaseWillClose() async {}
}

/// What other parts of the library keep for one database: reporters, caches, known schemas.
final class Attachments: Sendable {
  private let entries = Mutex<[ObjectIdentifier: any DatabaseAttachment]>([:])

  /// Returns the attachment of a type, made when it is asked for the first time.
  ///
  /// - Parameter make: must not ask for an attachment itself, nor for the database's time.
  func get<T: DatabaseAttachment>(_ type: T.Type = T.self, make: () -> T) -> T {
    entries.withLock { entries in
      if let found = entries[ObjectIdentifier(type)] as? T { return found }
      let made = make()
      entries[ObjectIdentifier(type)] = made
      return made
    }
  }

  func willClose() async {
    let all = entries.withLock { Array($0.values) }
    for attachment in all { await attachment.databaseWillClose() }
  }
}
