public import Foundation

extension FileManager {
  /// A place for the files of an engine.
  ///
  /// Nothing is made when a value of this type is; the engine makes the directory, with mode 0700, when it is
  /// first used.
  public struct Directory: Sendable, Hashable {
    /// The directory.
    public let url: URL

    /// Creates the name of any directory.
    public init(url: URL) { self.url = url }
  }
}

/// The usual places: the directories of the XDG Base Directory Specification.
extension FileManager.Directory {
  /// Returns `$XDG_DATA_HOME/<process name>/<path>`, by custom `~/.local/share/<process name>/<path>`.
  public static func defaultStorageDirectory(appendingPath path: String) -> Self {
    applicationSupport(appendingPath: path)
  }

  /// Returns `$XDG_DATA_HOME/<process name>/<path>`, by custom `~/.local/share/<process name>/<path>`.
  ///
  /// Programs with different names have different directories. Those that are to share a store agree on
  /// one with ``sharedContainer(forAppGroupIdentifier:appendingPath:)``.
  public static func applicationSupport(appendingPath path: String) -> Self {
    place("XDG_DATA_HOME", ".local/share", ProcessInfo.processInfo.processName, path)
  }

  /// Returns `$XDG_CACHE_HOME/<process name>/<path>`, by custom `~/.cache/<process name>/<path>`.
  public static func caches(appendingPath path: String) -> Self {
    place("XDG_CACHE_HOME", ".cache", ProcessInfo.processInfo.processName, path)
  }

  /// Returns `$XDG_DOCUMENTS_DIR/<path>`, by custom `~/Documents/<path>`.
  public static func documents(appendingPath path: String) -> Self {
    place("XDG_DOCUMENTS_DIR", "Documents", path)
  }

  /// Returns `$TMPDIR/<path>`, by custom `/tmp/<path>`.
  public static func temporary(appendingPath path: String) -> Self {
    Self(url: FileManager.default.temporaryDirectory.appending(path: path))
  }

  /// Returns `$XDG_DATA_HOME/<identifier>/<path>`: a directory that programs of one user agree on.
  public static func sharedContainer(
    forAppGroupIdentifier identifier: String, appendingPath path: String
  ) -> Self {
    place("XDG_DATA_HOME", ".local/share", identifier, path)
  }

  private static func place(_ variable: String, _ fallback: String, _ parts: String...) -> Self {
    let environment = ProcessInfo.processInfo.environment
    let base: URL
    // The specification says that relative paths are to be ignored.
    if let value = environment[variable], value.hasPrefix("/") {
      base = URL(filePath: value, directoryHint: .isDirectory)
    } else {
      let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
      base = URL(filePath: home, directoryHint: .isDirectory).appending(path: fallback)
    }
    return Self(
      url: parts.reduce(base) { $0.appending(path: $1, directoryHint: .isDirectory) })
  }
}
