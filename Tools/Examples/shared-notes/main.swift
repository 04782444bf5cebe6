import Boutique
import Dispatch
import Foundation

// example-shared-notes COMMAND …
//
// Two daemons and a command line that share notes and settings. docs/boutique.md explains it.

let usage = """
  usage: example-shared-notes COMMAND
    collector [DIR]        take a note of each line of standard input, or of each .txt file in DIR
    reporter               say what any of the programs changes
    add TEXT               add a note
    list                   list the notes
    remove ID              remove the notes whose identifiers begin so
    replace TEXT...        put these notes in the place of all, at once
    pause | resume         have the collector take nothing, or go on
    prefix TEXT            what the collector puts before each note
    ignore WORD            take no notes with this word; a second time: take them again

  """

// First thing: programs of any name have the same settings.
SettingsStorage.default = .shared(group: group)

// Ctrl-C and `kill` end a daemon. Whatever was written is on the disk, and the kernel takes the rest.
let endings = [SIGINT, SIGTERM].map { number in
  signal(number, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
  source.setEventHandler { exit(0) }
  source.resume()
  return source
}

do {
  try await run(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("example-shared-notes: \(error)\n".utf8))
  exit(1)
}

@MainActor
func run(_ arguments: [String]) async throws {
  let notes = NotesController()
  let preferences = Preferences()
  // Before anything else: what cannot be read must not look empty.
  try await notes.$notes.itemsHaveLoaded()
  switch (arguments.first, arguments.dropFirst().joined(separator: " ")) {
  case ("collector", ""): try await Collector().followInput()
  case ("collector", let directory): try await Collector().followDirectory(directory)
  case ("reporter", ""): await Reporter().run()
  case ("add", let text) where !text.isEmpty: try await notes.add(text, source: "command line")
  case ("list", ""): for note in notes.notes { say("\(note.id.prefix(8)) \(note.text)") }
  case ("remove", let prefix) where !prefix.isEmpty:
    say("\(try await notes.remove(beginning: prefix)) removed")
  case ("replace", _):
    let new = arguments.dropFirst().map {
      Note(id: UUID().uuidString, text: $0, source: "command line", createdAt: Date())
    }
    try await notes.$notes.removeAll().insert(new).run()
  case ("pause", ""): try await preferences.$isPaused.set(true).committed()
  case ("resume", ""): try await preferences.$isPaused.set(false).committed()
  case ("prefix", let text): try await preferences.$prefix.set(text).committed()
  case ("ignore", let word) where !word.isEmpty:
    try await preferences.$ignoredWords.togglePresence(word).committed()
  default:
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
  }
}

/// Prints a line at once, also into a pipe.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
