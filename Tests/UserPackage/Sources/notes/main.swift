import BoutiqueDB
import Foundation

let id = UUID()
let statements: [any Statement] = [
  Note.createTable(),
  Notebook.createTable(),
  NoteTag.createTable(),
  Note.insert { Note(id: id, title: "a") },
  Note.insert { Note.Draft(title: "b") },
  Notebook.insert { Notebook.Draft(name: "n") },
  NoteTag.insert { NoteTag(noteID: id, tag: "t") },
  Note.all,
  Note.find(id),
  NoteTag.find((id, "t")),
  Note.where { $0.title.eq("a") },
  Note.where { $0.stars > 1 && !$0.isArchived },
  Note.where { $0.notebookID.is(nil) }.order { $0.updatedAt.desc() },
  Note.where { $0.title.like("a%") }.limit(3),
  Note.select { ($0.title, $0.stars) },
  Note.count(),
  Note.join(Notebook.all) { $0.notebookID.eq($1.id) }.select { ($0.title, $1.name) },
  NoteTag.group { $0.tag }.select { TagUse.Columns(tag: $0.tag, count: $0.noteID.count()) },
  Note.where { $0.id.eq(id) }.update { $0.isArchived.set(true) },
  Note.where { $0.isArchived }.delete(),
  #sql("SELECT \(Note.columns.title) FROM \(Note.self) WHERE \(Note.columns.id) = \(id)"),
]
for statement in statements { print(statement.query.sql) }
