import Synchronization

/// Lets a test have the syncing of a directory fail.
package enum DiskFileTesting {
  private static let failing: Mutex<[ByteText: Int]> = Mutex([:])

  /// Has the next syncs of a directory fail.
  package static func failSyncs(of directory: String, count: Int) {
    failing.withLock { $0[ByteText(directory)] = count > 0 ? count : nil }
  }

  static func fails(_ directory: String) -> Bool {
    failing.withLock { failing in
      guard let left = failing[ByteText(directory)] else { return false }
      failing[ByteText(directory)] = left > 1 ? left - 1 : nil
      return true
    }
  }
}
