import StructuredQueriesMacros
import SwiftDiagnostics
import SwiftIfConfig
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// What the macros make of a source file, and what they say of it.
struct Expansion {
  /// The file with its macros expanded.
  let text: String
  /// What was said, each with its place as `line:column`.
  let messages: [Message]

  /// One thing that was said.
  struct Message {
    let place: String
    let text: String
    /// The source after each of the fix-its alone.
    let fixed: [String]
  }

  /// Expands the macros of a file; `conditions` are those that `-D` sets.
  init(of source: String, conditions: Set<String> = []) {
    let file = Parser.parse(source: source)
    let root = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")],
      buildConfiguration: StaticBuildConfiguration(
        customConditions: conditions, targetOSs: ["Linux"],
        languageVersion: VersionTuple(6), compilerVersion: VersionTuple(6, 3)))
    let expanded = file.expand(
      macroSpecs: Self.specs,
      contextGenerator: { node in
        BasicMacroExpansionContext(
          sharingWith: root, lexicalContext: node.allMacroLexicalContexts())
      }, indentationWidth: .spaces(2))
    text = expanded.description
    messages = root.diagnostics.map { Message($0, in: source, root) }
  }

  private static let specs: [String: MacroSpec] = [
    "Table": MacroSpec(type: TableMacro.self, conformances: conformances),
    "BoutiqueTable": MacroSpec(type: BoutiqueTableMacro.self, conformances: conformances),
    "Selection": MacroSpec(type: SelectionMacro.self, conformances: conformances),
    "Column": MacroSpec(type: ColumnMacro.self),
    "Columns": MacroSpec(type: ColumnsMacro.self),
    "Ephemeral": MacroSpec(type: EphemeralMacro.self),
    "sql": MacroSpec(type: SQLFragmentMacro.self),
    "typed": MacroSpec(type: SQLExpressionMacro.self),
  ]

  private static var conformances: [TypeSyntax] {
    ["QueryRow", "Table", "PrimaryKeyedTable", "DraftableTable"].map { name in
      TypeSyntax(IdentifierTypeSyntax(name: .identifier(name)))
    }
  }
}

extension Expansion.Message {
  fileprivate init(
    _ diagnostic: Diagnostic, in source: String, _ context: BasicMacroExpansionContext
  ) {
    func offset(_ position: AbsolutePosition, _ node: Syntax) -> SourceLocation {
      context.location(for: position, anchoredAt: node, fileName: "Test.swift")
    }
    let location = offset(diagnostic.position, diagnostic.node)
    place = "\(location.line):\(location.column)"
    text = diagnostic.message
    fixed = diagnostic.fixIts.map { fixIt in
      var bytes = Array(source.utf8)
      let edits = fixIt.changes.compactMap(Edit.init).map { edit in
        (edit: edit, start: offset(edit.range.lowerBound, edit.node).offset)
      }
      for (edit, start) in edits.sorted(by: { $0.start > $1.start }) {
        let length = edit.range.upperBound.utf8Offset - edit.range.lowerBound.utf8Offset
        bytes.replaceSubrange(start..<start + length, with: edit.text.utf8)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// A change of a fix-it as text.
private struct Edit {
  let node: Syntax
  let range: Range<AbsolutePosition>
  let text: String

  init?(_ change: FixIt.Change) {
    switch change {
    case .replace(let old, let new):
      node = old
      range = old.position..<old.endPosition
      text = new.description
    case .replaceText(let replaced, let replacement, let anchor):
      node = anchor
      range = replaced
      text = replacement
    default: return nil
    }
  }
}
