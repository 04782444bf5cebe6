import SwiftSyntaxMacros

#if canImport(SwiftCompilerPlugin)
  import SwiftCompilerPlugin
#else
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
#endif

/// The macros of the package by the name of their type, as `#externalMacro` names them.
private let macros: [String: any (Macro & Sendable).Type] = [
  "TableMacro": TableMacro.self,
  "BoutiqueTableMacro": BoutiqueTableMacro.self,
  "SelectionMacro": SelectionMacro.self,
  "ColumnMacro": ColumnMacro.self,
  "ColumnsMacro": ColumnsMacro.self,
  "EphemeralMacro": EphemeralMacro.self,
  "SQLFragmentMacro": SQLFragmentMacro.self,
  "SQLExpressionMacro": SQLExpressionMacro.self,
]

#if canImport(SwiftCompilerPlugin)
  @main struct Plugin: CompilerPlugin {
    var providingMacros: [any Macro.Type] { Array(macros.values) }
  }
#else
  /// The plug-in's side of the conversation with the compiler, on standard input and output.
  ///
  /// The toolchain's SwiftSyntax has no `SwiftCompilerPlugin`, which does this for plug-ins that
  /// build SwiftSyntax themselves.
  @main struct Plugin: PluginProvider {
    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
      guard let macro = macros[typeName] else { throw UnknownMacro(name: typeName) }
      return macro
    }

    static func main() throws {
      let connection = try StandardIOMessageConnection()
      try CompilerPluginMessageListener(connection: connection, provider: Plugin()).main()
    }
  }

  private struct UnknownMacro: Error, CustomStringConvertible {
    let name: String
    var description: String { "the plug-in StructuredQueriesMacros has no macro '\(name)'" }
  }
#endif
