import Foundation
import Glibc

/// The one path under which this process knows a file.
enum FilePlace {
  /// Returns the absolute path with links resolved as far as the file's directory exists.
  static func resolve(_ path: String) -> String {
    real(path) ?? resolveDirectory(of: path)
  }

  /// Returns the absolute path with the links on the way resolved, but not the last one.
  static func resolveDirectory(of path: String) -> String {
    let url = URL(filePath: path)
    let directory = url.deletingLastPathComponent().path(percentEncoded: false)
    guard let real = real(directory) else { return url.path(percentEncoded: false) }
    return (real == "/" ? "" : real) + "/" + url.lastPathComponent
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(validatingCString: resolved)
  }
}
