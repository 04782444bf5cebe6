import Foundation

/// The scripts that come with the sources.
package enum ScriptFiles {
  /// Where they lie, seen from the package.
  private static let place = "StressTests/Scripts"

  /// Reads all of them, by name, in order of their names.
  ///
  /// - Parameter program: a program that was built in the package, at any depth.
  package static func all(near program: String) throws -> [(name: String, text: String)] {
    var directory = URL(filePath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    while directory.path != "/" {
      let scripts = directory.appending(path: place)
      if let names = try? FileManager.default.contentsOfDirectory(atPath: scripts.path) {
        return try names.filter { $0.hasSuffix(".script") }.sorted().map {
          (
            String($0.dropLast(7)),
            try String(contentsOf: scripts.appending(path: $0), encoding: .utf8)
          )
        }
      }
      directory = directory.deletingLastPathComponent()
    }
    throw ScriptError(text: "there is no directory \(place) above \(program)")
  }
}
