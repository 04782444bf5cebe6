import Foundation

/// A daemon that takes notes: each line of its standard input, or each file of a directory.
@MainActor
struct Collector {
  let notes = NotesController()
  let preferences = Preferences()

  /// Takes lines until the input ends.
  func followInput() async throws {
    say("collecting from standard input")
    for await line in inputLines() where !line.isEmpty {
      if let reason = refusal(of: line) {
        say("skipped (\(reason)): \(line)")
        continue
      }
      try await notes.add(preferences.prefix + line, source: "standard input")
      say("taken: \(line)")
    }
  }

  /// Takes the files of a directory, and removes each when its note is on the disk.
  ///
  /// The file's name is the note's identifier. So a death in between takes it once more at the next start, and
  /// there is still one note.
  func followDirectory(_ path: String) async throws {
    _ = try files(in: path)
    say("collecting from \(path)")
    while !Task.isCancelled {
      for name in try files(in: path) where name.hasSuffix(".txt") {
        let file = path + "/" + name
        let text = try String(contentsOfFile: file, encoding: .utf8)
          .trimmingCharacters(in: .whitespacesAndNewlines)
        guard refusal(of: text) == nil else { continue }
        try await notes.add(preferences.prefix + text, source: name, id: name)
        try FileManager.default.removeItem(atPath: file)
        say("taken: \(name)")
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  private func files(in path: String) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    } catch {
      throw Failure(description: "cannot read the directory \(path): \(error.localizedDescription)")
    }
  }

  private struct Failure: Error, CustomStringConvertible { let description: String }

  /// Says why something is not taken, by what the settings are now.
  private func refusal(of text: String) -> String? {
    if preferences.isPaused { return "paused" }
    return preferences.ignoredWords.first { text.contains($0) }.map { "“\($0)” is ignored" }
  }
}

/// The lines of standard input, read by a thread of their own.
private func inputLines() -> AsyncStream<String> {
  AsyncStream { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
  }
}
