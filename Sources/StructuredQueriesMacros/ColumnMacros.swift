package import SwiftSyntax
package import SwiftSyntaxMacros

/// A mark on a property that another macro reads; it adds nothing, but says where it means nothing.
package protocol ColumnMarkMacro: PeerMacro {
  /// The name of the macro's attribute.
  static var attributeName: String { get }
}

extension ColumnMarkMacro {
  /// Adds nothing.
  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard declaration.is(VariableDeclSyntax.self) else {
      context.diagnose(TableDiagnostic.markedNonProperty(node, macro: attributeName))
      return []
    }
    let surrounding = context.lexicalContext.first
    let attributes = surrounding?.asProtocol((any WithAttributesSyntax).self)?.attributes
    let isRead = ["Table", "BoutiqueTable", "Selection"].contains { name in
      attributes?.first(named: name) != nil
    }
    if !isRead {
      context.diagnose(TableDiagnostic.markedOutsideTable(node, macro: attributeName))
    }
    return []
  }
}

/// `@Column`.
package enum ColumnMacro: ColumnMarkMacro {
  package static var attributeName: String { "Column" }
}

/// `@Columns`.
package enum ColumnsMacro: ColumnMarkMacro {
  package static var attributeName: String { "Columns" }
}

/// `@Ephemeral`.
package enum EphemeralMacro: ColumnMarkMacro {
  package static var attributeName: String { "Ephemeral" }
}
