import BoutiqueDB
import Dispatch
public import Foundation

/// Data under keys in a directory, a file for each key.
///
/// For few and large things, and for those that other programs are to find as files: each begins with two lines
/// that say what it is, then comes the data. Several processes may use one directory; what one writes is
/// seen by the stores of others within ``newsInterval``, for which they look at each file's times.
///
/// ``SQLiteStorageEngine`` is faster by far for many small things. How a death and a full disk leave the
/// directory is told in `DiskDirectory.swift`: all of a transaction or nothing.
public actor DiskStorageEngine {
  /// How often a store looks whether another process has written.
  public nonisolated static var newsInterval: Duration { .milliseconds(250) }

  /// The directory.
  public nonisolated let directory: FileManager.Directory

  private let files: DiskFiles

  /// Creates an engine on a directory, which is made, with mode 0700, when it is first used.
  ///
  /// - Parameter lockTimeout: how long to wait while other processes write.
  public init(directory: FileManager.Directory, lockTimeout: Duration = .seconds(10)) {
    self.directory = directory
    files = DiskFiles(
      DiskDirectory(path: directory.url.path(percentEncoded: false), lockTimeout: lockTimeout))
  }
}

extension DiskStorageEngine: SharedStorageEngine {
  /// Writes and removes files, all or nothing.
  public func apply(_ operations: [StorageOperation]) async throws {
    try await files.run { try $0.apply(operations) }
  }

  /// Returns what has changed since a position, as of one moment.
  public func changes(since position: StoragePosition?) async throws -> StorageChanges {
    try await files.run { try $0.changes(since: position) }
  }

  /// Returns a sequence that yields when something may have changed.
  public nonisolated func news() -> AsyncThrowingStream<StoragePosition?, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: StoragePosition?.self, bufferingPolicy: .bufferingNewest(1))
    let files = files
    let task = Task {
      do {
        var last = try await files.run { try $0.transactionNumber() }
        continuation.yield(nil)
        while true {
          try await Task.sleep(for: Self.newsInterval)
          let now = try await files.run { try $0.transactionNumber() }
          if now != last { continuation.yield(nil) }
          last = now
        }
      } catch {
        continuation.finish(throwing: error is CancellationError ? nil : error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Writes data under a key, in the place of what is there.
  public func write(_ data: Data, key: CacheKey) async throws {
    try await apply([.write(key, data)])
  }

  /// Writes several, all or nothing; of a key that is given twice the last one counts.
  public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
    try await apply(dataAndKeys.map { .write($0.key, $0.data) })
  }

  /// Removes what lies under a key, if there is something.
  public func remove(key: CacheKey) async throws { try await apply([.remove(key)]) }

  /// Removes what lies under several keys, all or nothing.
  public func remove(keys: [CacheKey]) async throws { try await apply(keys.map { .remove($0) }) }

  /// Removes everything, and gives the space back.
  public func removeAllData() async throws { try await apply([.removeAll]) }

  /// Returns what lies under a key, or nil.
  public func read(key: CacheKey) async throws -> Data? {
    try await files.run { try $0.items(under: [key]).first?.data }
  }

  /// Returns what lies under those of the keys that are there, with the keys and in their order.
  public func readDataAndKeys(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
    try await files.run { try $0.items(under: keys).map { ($0.file.key, $0.data) } }
  }

  /// Returns everything with its keys, in the order in which they were first written.
  public func readAllDataAndKeys() async throws -> [(key: CacheKey, data: Data)] {
    try await files.run { try $0.allItems().map { ($0.file.key, $0.data) } }
  }

  /// Returns all keys, in the order in which they were first written.
  public func allKeys() async throws -> [CacheKey] {
    try await files.run { try $0.allHeads().map(\.key) }
  }

  /// Returns those of the keys that are there, in the order given.
  public func keysExist(_ keys: [CacheKey]) async throws -> [CacheKey] {
    try await files.run { try $0.heads(under: keys).map(\.key) }
  }

  /// Returns when a key was first written; nil when it is not there.
  public func createdAt(key: CacheKey) async throws -> Date? {
    try await files.run { try $0.heads(under: [key]).first?.created }
  }

  /// Returns when a key was last written; nil when it is not there.
  public func updatedAt(key: CacheKey) async throws -> Date? {
    try await files.run { try $0.heads(under: [key]).first?.updated }
  }
}

/// A directory and the queue on which its calls block.
///
/// `@unchecked Sendable`: the directory is touched on the serial queue alone.
private final class DiskFiles: @unchecked Sendable {
  private let directory: DiskDirectory
  private let queue = DispatchQueue(label: "boutique-disk-storage")

  init(_ directory: sending DiskDirectory) { self.directory = directory }

  func run<R: Sendable>(
    _ body: @escaping @Sendable (DiskDirectory) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body(self.directory) }) }
    }
  }
}
