package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// A macro that reads a whole struct: it adds the members, and the extension that conforms it.
///
/// Both are written from the same model. The mistakes in a declaration are reported once, with the
/// members.
package protocol TableReadingMacro: MemberMacro, ExtensionMacro {
  /// The name of the macro's attribute.
  static var attributeName: String { get }
}

extension TableReadingMacro {
  /// The expansion is written as it shall be read.
  package static var formatMode: FormatMode { .disabled }

  /// Adds columns, schema, coding, key and draft.
  package static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let model = model(node, declaration, context, reportingMistakes: true) else { return [] }
    return TableExpansion(model: model).members.map { "\(raw: $0)" }
  }

  /// Conforms the struct to the protocol of its kind of table.
  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = model(node, declaration, context, reportingMistakes: false) else { return [] }
    let expansion = TableExpansion(model: model)
    guard !expansion.conformances.isEmpty else { return [] }
    // Those that the struct's declaration states itself are not asked for.
    let missing = Set(
      protocols.compactMap { $0.plainText().split(separator: ".").last.map(String.init) })
    let text = expansion.conformingExtension(
      of: type.plainText(), to: expansion.conformances.filter(missing.contains))
    let declaration: DeclSyntax = "\(raw: text)"
    return declaration.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }

  private static func model(
    _ node: AttributeSyntax, _ declaration: some DeclGroupSyntax,
    _ context: some MacroExpansionContext, reportingMistakes: Bool
  ) -> TableModel? {
    guard let kind = TableMacroKind(rawValue: attributeName) else { return nil }
    var parser = TableModelParser(
      macro: kind, attribute: node, declaration: declaration, context: context)
    let model = parser.parse()
    // On a struct that is a table too, it is the table's macro that reports.
    if reportingMistakes, model?.kind != .columnsOfTable {
      for diagnostic in parser.diagnostics { context.diagnose(diagnostic) }
    }
    return parser.diagnostics.isEmpty ? model : nil
  }
}

/// `@Table`.
package enum TableMacro: TableReadingMacro {
  package static var attributeName: String { TableMacroKind.table.rawValue }
}

/// `@BoutiqueTable`.
package enum BoutiqueTableMacro: TableReadingMacro {
  package static var attributeName: String { TableMacroKind.boutiqueTable.rawValue }
}

/// `@Selection`.
package enum SelectionMacro: TableReadingMacro {
  package static var attributeName: String { TableMacroKind.selection.rawValue }
}
