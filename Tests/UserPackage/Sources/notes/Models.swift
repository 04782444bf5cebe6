import BoutiqueDB
import Foundation

@Table struct Note: Sendable {
  let id: UUID
  var title: String
  var body: String = ""
  var stars: Int = 0
  var isArchived: Bool = false
  var updatedAt: Date = Date()
  var notebookID: Int?
}

@BoutiqueTable(strict: true) struct Notebook: Sendable {
  let id: Int
  @Column(unique: true) var name: String
  @Column(generated: .stored, as: "length(name)") let width: Int
}

@BoutiqueTable("note_tag", withoutRowID: true) struct NoteTag: Sendable {
  @Column(primaryKey: true) let noteID: UUID
  @Column(primaryKey: true) let tag: String
}

@Selection struct TagUse: Sendable {
  let tag: String
  let count: Int
}
