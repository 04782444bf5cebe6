/// A property that is the items of a store.
///
/// ```swift
/// @MainActor @Observable
/// final class NotesController {
///   @ObservationIgnored @Stored(in: .notesStore) var notes
///
///   func saveNote(note: Note) async throws {
///     try await $notes.insert(note)
///   }
/// }
/// ```
///
/// `notes` is an array, `$notes` the store. Any number of controllers may share a store. Reading the property is
/// tracked by Observation, since the store is: `@ObservationIgnored` only keeps `@Observable` from making a
/// second property `_notes`, which does not compile.
@MainActor @propertyWrapper
public struct Stored<Item: StorableItem> {
  private let store: Store<Item>

  /// Creates the property.
  public init(in store: Store<Item>) { self.store = store }

  /// The items of the store.
  public var wrappedValue: [Item] { store.items }

  /// The store.
  public var projectedValue: Store<Item> { store }
}
