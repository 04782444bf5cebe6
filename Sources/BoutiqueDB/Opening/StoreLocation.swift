public import Foundation

/// Where databases live on Linux: the directories of the XDG Base Directory Specification.
extension BoutiqueDB {
  /// Returns `$XDG_DATA_HOME/<process name>/<filename>` and makes the directory (mode 0700) when it is
  /// missing.
  ///
  /// `$HOME/.local/share` stands in where `XDG_DATA_HOME` is not set to an absolute path.
  ///
  /// - Throws: ``BoutiqueError/invalidPath(path:message:)`` for a filename with a slash, or
  ///   another ``BoutiqueError`` when the directory cannot be made.
  public static func applicationSupportURL(filename: String = "boutique.db") throws -> URL {
    let base = try xdgDirectory("XDG_DATA_HOME", fallback: ".local/share")
    return try file(filename, in: base + "/" + ProcessInfo.processInfo.processName)
  }

  /// Returns `<filename>` in the user's documents directory and makes the directory when it is missing.
  ///
  /// The directory is `$XDG_DOCUMENTS_DIR`, else what `user-dirs.dirs` names, else `~/Documents`.
  public static func documentsURL(filename: String = "boutique.db") throws -> URL {
    let home = try homeDirectory()
    let environment = ProcessInfo.processInfo.environment
    if let named = environment["XDG_DOCUMENTS_DIR"], named.hasPrefix("/") {
      return try file(filename, in: named)
    }
    let configuration = try xdgDirectory("XDG_CONFIG_HOME", fallback: ".config")
    let listed = try? String(contentsOfFile: configuration + "/user-dirs.dirs", encoding: .utf8)
    for line in (listed ?? "").split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == "XDG_DOCUMENTS_DIR" else { continue }
      let directory = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
        .replacingOccurrences(of: "$HOME", with: home)
      if directory.hasPrefix("/") { return try file(filename, in: directory) }
    }
    return try file(filename, in: home + "/Documents")
  }

  /// Returns `$XDG_CONFIG_HOME/<group>/<filename>` and makes the directory (mode 0700) when it is missing.
  ///
  /// `$HOME/.config` stands in where `XDG_CONFIG_HOME` is not set to an absolute path.
  ///
  /// - Parameter group: the name that cooperating processes agree on; nil for the process's own.
  /// - Throws: as ``sharedURL(group:filename:)``.
  public static func configurationURL(
    group: String? = nil, filename: String = "settings.db"
  ) throws -> URL {
    let group = group ?? ProcessInfo.processInfo.processName
    try checkGroup(group)
    return try file(
      filename, in: try xdgDirectory("XDG_CONFIG_HOME", fallback: ".config") + "/" + group)
  }

  /// Returns a URL that opens a database in memory; each call names a store of its own.
  public static func inMemoryURL() -> URL {
    URL(string: "boutique-memory:\(UUID().uuidString)") ?? URL(filePath: "/dev/null")
  }

  /// Returns `<filename>` in a directory that cooperating processes of one user share.
  ///
  /// The directory is `$XDG_DATA_HOME/<group>`, made with mode 0700 when it is missing. For processes
  /// of several users give a directory of your own (set-group-id) to `open`.
  ///
  /// - Parameter group: the agreed name, by custom in reverse-domain form.
  public static func sharedURL(group: String, filename: String = "boutique.db") throws -> URL {
    try checkGroup(group)
    return try file(
      filename, in: try xdgDirectory("XDG_DATA_HOME", fallback: ".local/share") + "/" + group)
  }

  private static func checkGroup(_ group: String) throws {
    guard isPlainName(group) else {
      throw BoutiqueError.invalidPath(
        path: group, message: "a group is a plain name without slashes")
    }
  }

  // By bytes: with a combining mark behind it a slash is another character, but not to the kernel.
  private static func isPlainName(_ name: String) -> Bool {
    !name.utf8.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0)
      && name != "." && name != ".."
  }

  static func isInMemory(_ url: URL) -> Bool { url.scheme == "boutique-memory" }

  private static func xdgDirectory(_ variable: String, fallback: String) throws -> String {
    // The specification says that relative paths are to be ignored.
    if let value = ProcessInfo.processInfo.environment[variable], value.hasPrefix("/") {
      return value
    }
    return try homeDirectory() + "/" + fallback
  }

  private static func homeDirectory() throws -> String {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    guard home.hasPrefix("/") else {
      throw BoutiqueError.invalidPath(path: home, message: "HOME is not an absolute path")
    }
    return home
  }

  private static func file(_ filename: String, in directory: String) throws -> URL {
    guard isPlainName(filename) else {
      throw BoutiqueError.invalidPath(path: filename, message: "a filename has no slashes")
    }
    do {
      try DirectoryMaking.make(directory)
    } catch {
      throw error.error
    }
    return URL(filePath: directory, directoryHint: .isDirectory)
      .appending(path: filename, directoryHint: .notDirectory)
  }
}
