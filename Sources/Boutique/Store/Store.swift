import Foundation
public import Observation

/// Items in memory and on the disk: a plain array that is always what the disk has, whoever writes there.
///
/// ```swift
/// extension Store where Item == Note {
///   static let notesStore = Store<Note>(
///     storage: SQLiteStorageEngine.default(appendingPath: "Notes"))
/// }
/// try await Store.notesStore.insert(note)
/// ```
///
/// Items are in the order in which they were first inserted, in every process and after every start. An
/// identifier names one item: inserting another with it replaces the first in its place. What is inserted goes to
/// the disk first; when that fails, memory stays as it was. Processes with a store on the same file follow one
/// another, and write single items, never the whole array: nobody's stale memory overwrites anything.
///
/// It lives on the main actor; reading and writing the disk, and decoding, are done elsewhere. How memory follows
/// the disk is told in `Store+Following.swift`.
@MainActor @Observable
public final class Store<Item: StorableItem> {
  /// The items, in the order in which they were first inserted.
  ///
  /// Empty until they have been loaded: see ``itemsHaveLoaded()`` and ``hasLoaded``.
  public var items: [Item] {
    access(keyPath: itemsPath)
    return contents.items
  }

  /// Whether the items have been loaded.
  public internal(set) var hasLoaded = false

  /// Why ``items`` are not what the disk has; nil when they are.
  ///
  /// Loading has failed, news of others cannot be had at the moment, or another process has written what
  /// cannot be decoded here; then that item is as it was, and the others follow.
  public internal(set) var problem: (any Error)?

  // All of these change on the main actor, as everything of a store.
  @ObservationIgnored var contents: StoreContents<Item>
  /// The moment of which ``contents`` is; nil before the first.
  @ObservationIgnored var position: StoragePosition?
  @ObservationIgnored var loading = Loading.running
  @ObservationIgnored var waitingForItems: [CheckedContinuation<Void, any Error>] = []
  /// What is being written.
  @ObservationIgnored var beingWritten: [OwnChanges<Item>] = []
  /// What is on the disk and not told yet.
  @ObservationIgnored var written: [OwnChanges<Item>] = []
  /// Whether something may have changed since the last step began.
  @ObservationIgnored var isStepNeeded = false
  /// Whether a task is at work that makes steps until none is needed.
  @ObservationIgnored var isFollowing = false
  @ObservationIgnored var unreadable: [Int64: StoreError] = [:]
  @ObservationIgnored var watchProblem: (any Error)?
  @ObservationIgnored var stepProblem: (any Error)?
  @ObservationIgnored private var watching: Task<Void, Never>?
  @ObservationIgnored private var readers: [EventReaderReference] = []
  @ObservationIgnored private var latestEvent = StoreEvent<Item>(operation: .initialized, items: [])

  /// A generic type's key path is looked up anew each time that it is written down.
  @ObservationIgnored let itemsPath = \Store.items
  @ObservationIgnored let source: any StoreSource
  @ObservationIgnored let identifier: @Sendable (Item) -> String

  /// How far loading has come.
  enum Loading {
    case running
    case done
    case failed(any Error)
  }

  private struct EventReaderReference {
    weak var reader: StoreEventReader<Item>?
  }

  // MARK: Making

  /// Creates a store and begins to load its items.
  ///
  /// - Parameters:
  ///   - storage: where the items lie.
  ///   - cacheIdentifier: what tells an item from others; two with the same are one. Compared byte for byte.
  public convenience init(
    storage: any StorageEngine, cacheIdentifier: any KeyPath<Item, String> & Sendable
  ) {
    self.init(source: Self.source(storage)) { $0[keyPath: cacheIdentifier] }
  }

  /// Creates a store and returns when its items are there.
  ///
  /// - Throws: what ``itemsHaveLoaded()`` throws.
  public convenience init(
    storage: any StorageEngine, cacheIdentifier: any KeyPath<Item, String> & Sendable
  ) async throws {
    self.init(source: Self.source(storage)) { $0[keyPath: cacheIdentifier] }
    try await itemsHaveLoaded()
  }

  init(
    source: any StoreSource, contents: StoreContents<Item> = StoreContents(),
    identifier: @escaping @Sendable (Item) -> String
  ) {
    self.source = source
    self.contents = contents
    self.identifier = identifier
    follow()
    // The store must go when nobody has it any more, whatever its engine has to tell.
    watching = Task { [weak self, source] in await Self.watch(source) { self } }
  }

  isolated deinit {
    watching?.cancel()
    for reference in readers { reference.reader?.end() }
  }

  static func source(_ storage: any StorageEngine) -> any StoreSource {
    if let storage = storage as? any SharedStorageEngine { return shared(storage) }
    return UnsharedSource(storage)
  }

  private static func shared(_ engine: some SharedStorageEngine) -> any StoreSource {
    SharedSource(engine: engine)
  }

  // MARK: Loading

  /// Returns when the items have been loaded.
  ///
  /// After a failure it tries once more.
  ///
  /// - Throws: ``StoreError/undecodable(key:item:message:)`` when one of them cannot be decoded; what the
  ///   engine throws when it cannot read. Then ``items`` stay empty, and nothing can be written.
  public func itemsHaveLoaded() async throws {
    switch loading {
    case .done: return
    case .running: break
    case .failed:
      loading = .running
      follow()
    }
    try await withCheckedThrowingContinuation { waitingForItems.append($0) }
  }

  /// Calls a closure when the items have been loaded; at once if they are.
  ///
  /// - Parameter onError: called instead when loading has failed.
  public func onDidLoad(
    _ action: @escaping @MainActor () -> Void,
    onError: @escaping @MainActor (any Error) -> Void = { _ in }
  ) {
    if case .done = loading { return action() }
    Task {
      do {
        try await itemsHaveLoaded()
        action()
      } catch {
        onError(error)
      }
    }
  }

  // MARK: Events

  /// What happens to the store from now on, beginning with what happened last.
  ///
  /// Each call gives a sequence of its own, for one reader. A reader for whom 256 events are waiting gets one
  /// `loaded` with all items instead of these. It ends with the store.
  public var events: AsyncStream<StoreEvent<Item>> {
    let reader = StoreEventReader(first: latestEvent)
    readers.removeAll { $0.reader == nil }
    readers.append(EventReaderReference(reader: reader))
    return AsyncStream(unfolding: { await reader.next() })
  }

  func tell(_ event: StoreEvent<Item>) {
    latestEvent = event
    for reference in readers { reference.reader?.tell(event, all: contents.items) }
  }
}
