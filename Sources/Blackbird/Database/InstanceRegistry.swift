import Glibc
import Synchronization

/// The files that this process has open, so that each has one instance.
///
/// Two instances in one process would each have their own cache and line of writes. Files are told apart by
/// path, links resolved, and by device and inode, since a directory can be mounted at two places. Nothing is
/// opened to find that out: closing any descriptor of the file would drop SQLite's locks.
enum InstanceRegistry {
  /// The place of one instance.
  struct Place: Sendable {
    fileprivate let number: Int64
  }

  private struct State {
    var next: Int64 = 1
    var paths: [Int64: String] = [:]
  }

  private static let state = Mutex(State())

  /// Takes the place for a path, links resolved, or returns nil where an instance has the file.
  static func enter(_ path: String) -> Place? {
    state.withLock { state in
      let file = FileLook.identity(of: path)
      for other in state.paths.values {
        if other == path { return nil }
        if let file, FileLook.identity(of: other) == file { return nil }
      }
      let number = state.next
      state.next += 1
      state.paths[number] = path
      return Place(number: number)
    }
  }

  /// Gives a place up; a second time does nothing.
  static func leave(_ place: Place) {
    state.withLock { _ = $0.paths.removeValue(forKey: place.number) }
  }

  /// Whether an instance has the file at a path, links resolved.
  static func isOpen(_ path: String) -> Bool {
    guard let place = enter(path) else { return true }
    leave(place)
    return false
  }
}
