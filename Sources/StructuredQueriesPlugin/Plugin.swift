import StructuredQueriesMacros
@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The program that the compiler runs to expand the macros of the package.
///
/// It holds nothing but the conversation with the compiler on standard input and output, which the
/// module `SwiftCompilerPlugin` would be for; the toolchain has none. The macros are a library of
/// their own, because tests of a plug-in would have SwiftPM build the whole package a second time.
@main struct Plugin: PluginProvider {
  /// The macros by the name of their type, as `#externalMacro` names them.
  private static let macros: [String: any (Macro & Sendable).Type] = [
    "TableMacro": TableMacro.self,
    "BoutiqueTableMacro": BoutiqueTableMacro.self,
    "SelectionMacro": SelectionMacro.self,
    "ColumnMacro": ColumnMacro.self,
    "ColumnsMacro": ColumnsMacro.self,
    "EphemeralMacro": EphemeralMacro.self,
    "SQLFragmentMacro": SQLFragmentMacro.self,
    "SQLExpressionMacro": SQLExpressionMacro.self,
  ]

  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    guard let macro = Self.macros[typeName] else { throw UnknownMacro(name: typeName) }
    return macro
  }

  static func main() throws {
    let connection = try StandardIOMessageConnection()
    try CompilerPluginMessageListener(connection: connection, provider: Plugin()).main()
  }

  private struct UnknownMacro: Error, CustomStringConvertible {
    let name: String
    var description: String { "the plug-in of StructuredQueries has no macro '\(name)'" }
  }
}
