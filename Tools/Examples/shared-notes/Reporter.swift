import Boutique
import Foundation
import Observation

/// A daemon that says what any of the programs changes.
@MainActor
struct Reporter {
  let notes = NotesController()
  let preferences = Preferences()

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.reportNotes() }
      group.addTask { await self.reportPreferences() }
    }
  }

  private func reportNotes() async {
    for await event in notes.$notes.events {
      switch event.operation {
      case .initialized: break
      case .loaded: say("\(event.items.count) notes")
      case .insert: for note in event.items { say("+ \(note.text) (by \(event.origin.name))") }
      case .remove: for note in event.items { say("- \(note.text) (by \(event.origin.name))") }
      }
    }
  }

  private func reportPreferences() async {
    let preferences = preferences
    let settings = Observations {
      "paused \(preferences.isPaused ? "yes" : "no"), prefix “\(preferences.prefix)”, "
        + "ignored \(preferences.ignoredWords)"
    }
    for await text in settings { say("settings: \(text)") }
  }
}

extension StoreEventOrigin {
  /// What a person calls it.
  fileprivate var name: String {
    switch self {
    case .thisStore, .thisProcess: "this program"
    case .process(let pid, let label): "\(label), process \(pid)"
    case .foreign: "a program without the library"
    case .unknown: "somebody"
    }
  }
}
