import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads a declaration into a model, or says what is wrong with it.
///
/// The only reader of syntax: what it hands on is plain text without comments. It goes on after a
/// mistake, so that all of them are reported at once.
struct TableModelParser {
  /// What is wrong with the declaration; the model means nothing unless this is empty.
  private(set) var diagnostics: [Diagnostic] = []

  private let macro: TableMacroKind
  private let attribute: AttributeSyntax
  private let declaration: any DeclGroupSyntax
  private let context: any MacroExpansionContext

  /// A parser of the declaration that an attribute is attached to.
  init(
    macro: TableMacroKind, attribute: AttributeSyntax, declaration: some DeclGroupSyntax,
    context: some MacroExpansionContext
  ) {
    self.macro = macro
    self.attribute = attribute
    self.declaration = declaration
    self.context = context
  }

  /// Reads the declaration; nil when it is of the wrong kind altogether.
  mutating func parse() -> TableModel? {
    guard let structure = declaration.as(StructDeclSyntax.self) else {
      diagnostics.append(TableDiagnostic.notAStruct(declaration, macro: macro.rawValue))
      return nil
    }
    let inherited = structure.inheritanceClause?.inheritedTypes ?? []
    if let suppressed = inherited.first(where: { $0.type.is(SuppressedTypeSyntax.self) }) {
      diagnostics.append(TableDiagnostic.noncopyable(suppressed.type))
      return nil
    }
    let surroundings = context.lexicalContext
    guard !surroundings.contains(where: { $0.isBody }) else {
      diagnostics.append(TableDiagnostic.localType(attribute, macro: macro.rawValue))
      return nil
    }
    // Extensions are written at the level of the file, which does not see a private nested type.
    let types = [Syntax(structure)] + surroundings
    let isOutOfReach = types.dropLast().contains { $0.privateModifier != nil }
    guard !isOutOfReach else {
      let modifier = Syntax(structure).privateModifier
      diagnostics.append(TableDiagnostic.outOfReach(modifier, attribute, macro: macro.rawValue))
      return nil
    }
    if macro == .table, let other = structure.attributes.first(named: "BoutiqueTable") {
      diagnostics.append(
        TableDiagnostic.twoTableMacros(attribute, other: other.name))
      return nil
    }
    let isTableToo = ["Table", "BoutiqueTable"].contains {
      structure.attributes.first(named: $0) != nil
    }
    var model = TableModel(
      kind: macro == .selection ? (isTableToo ? .columnsOfTable : .selection) : .table,
      typeName: structure.name.text,
      tableName: quoted(defaultTableName(structure.name.bareName)),
      access: structure.modifiers.access ?? .internal,
      isNested: !surroundings.isEmpty,
      isGeneric: structure.genericParameterClause != nil
        || surroundings.contains { $0.mayBeGeneric })
    parseArguments(into: &model)
    let members = activeMembers(of: structure.memberBlock.members)
    checkNames(of: members, in: model)
    var columns = ColumnParser(for: model, hiddenTypes: hiddenTypes(in: members)) {
      [context] name in
      context.location(of: name, at: .afterLeadingTrivia, filePathMode: .filePath).map {
        SourcePlace(file: $0.file.plainText(), line: $0.line.plainText())
      }
    }
    for member in members {
      if let property = member.as(VariableDeclSyntax.self) { columns.parse(property) }
    }
    diagnostics += columns.diagnostics
    model.columns = columns.columns
    if model.columns.isEmpty, diagnostics.isEmpty {
      diagnostics.append(TableDiagnostic.noColumns(structure.name))
    }
    checkKey(of: model, columns.keyNodes)
    return model
  }

  // MARK: Arguments

  private mutating func parseArguments(into model: inout TableModel) {
    for argument in attribute.labeledArguments {
      guard let label = argument.label?.text else {
        if argument.expression.is(NilLiteralExprSyntax.self) { continue }
        guard let literal = argument.expression.plainString else {
          diagnostics.append(TableDiagnostic.nameNotLiteral(argument.expression, of: "table"))
          continue
        }
        if literal.segments.plainText().isEmpty {
          diagnostics.append(TableDiagnostic.emptyName(argument.expression, of: "table"))
        }
        model.tableName = literal.plainText()
        continue
      }
      if ["strict", "withoutRowID"].contains(label), argument.expression.booleanValue == nil {
        diagnostics.append(TableDiagnostic.flagNotLiteral(argument.expression, label: label))
      }
      let value = argument.expression.plainText(replacingSelfBy: model.typeName)
      model.options.append("\(label): \(value)")
    }
  }

  /// The type's name with its leading capitals lowered, of several all but the one that begins the
  /// next word.
  private func defaultTableName(_ name: String) -> String {
    let capitals = name.prefix(while: \.isUppercase)
    let beginsWord = capitals.count > 1 && name.dropFirst(capitals.count).first?.isLowercase == true
    let lowered = beginsWord ? capitals.dropLast() : capitals
    return lowered.lowercased() + name.dropFirst(lowered.count)
  }

  // MARK: Members

  private mutating func activeMembers(of list: MemberBlockItemListSyntax) -> [DeclSyntax] {
    var members: [DeclSyntax] = []
    for item in list {
      guard let condition = item.decl.as(IfConfigDeclSyntax.self) else {
        members.append(item.decl)
        continue
      }
      guard let clause = activeClause(of: condition) else { continue }
      if case .decls(let decls)? = clause.elements { members += activeMembers(of: decls) }
    }
    return members
  }

  /// The clause that the compiler takes; a macro cannot tell which it is where a module decides, and
  /// that is a mistake around stored properties only.
  private mutating func activeClause(of condition: IfConfigDeclSyntax) -> IfConfigClauseSyntax? {
    var result: (clause: IfConfigClauseSyntax?, diagnostics: [Diagnostic]) = (nil, [])
    var isUnknown = true
    if let configuration = context.buildConfiguration {
      result = condition.activeClause(in: configuration)
      isUnknown = result.diagnostics.contains { $0.diagMessage.severity == .error }
    }
    guard isUnknown else { return result.clause }
    if condition.hasStoredProperties {
      let node = result.diagnostics.first.map(\.node) ?? Syntax(condition.clauses)
      diagnostics.append(TableDiagnostic.conditionUnknown(node))
    }
    return nil
  }

  /// The nested types that can be named within the struct only.
  private func hiddenTypes(in members: [DeclSyntax]) -> Set<String> {
    Set(
      members.compactMap { member in
        guard member.asProtocol((any WithModifiersSyntax).self)?.modifiers.access == .private else {
          return nil
        }
        return member.declaredTypeName?.bareName
      })
  }

  private mutating func checkNames(of members: [DeclSyntax], in model: TableModel) {
    var taken: Set<String> = []
    if model.kind != .columnsOfTable { taken.insert("TableColumns") }
    if model.kind == .table {
      taken.formUnion(["Draft", "PrimaryKey"])
    } else {
      taken.insert("Columns")
    }
    for member in members {
      if let name = member.declaredTypeName, taken.contains(name.bareName) {
        diagnostics.append(TableDiagnostic.nameTaken(name, macro: macro.rawValue))
      }
      if model.kind != .columnsOfTable, let initializer = member.as(InitializerDeclSyntax.self),
        initializer.signature.parameterClause.parameters.map(\.firstName.text) == ["decoder"]
      {
        diagnostics.append(TableDiagnostic.initializerTaken(initializer, macro: macro.rawValue))
      }
    }
  }

  // MARK: Key

  private mutating func checkKey(of model: TableModel, _ nodes: [String: Syntax]) {
    let key = model.key
    if key.count > 1 {
      for column in key where column.type.isOptional {
        guard let node = nodes[column.property] else { continue }
        diagnostics.append(TableDiagnostic.optionalKeyPart(node, named: column.property))
      }
    }
    if key.isEmpty, diagnostics.isEmpty, model.options.contains("withoutRowID: true"),
      let argument = attribute.labeledArguments.first(where: { $0.label?.text == "withoutRowID" })
    {
      diagnostics.append(TableDiagnostic.withoutKey(argument))
    }
  }
}

/// The macros that read a whole struct, by the name of their attribute.
enum TableMacroKind: String {
  case table = "Table"
  case boutiqueTable = "BoutiqueTable"
  case selection = "Selection"
}

/// A string as a Swift literal.
func quoted(_ text: String) -> String {
  let escaped = text.flatMap { character in
    character == "\"" || character == "\\" ? ["\\", character] : [character]
  }
  return "\"\(String(escaped))\""
}

extension Syntax {
  /// Whether the node runs code, so that a type within it is local.
  fileprivate var isBody: Bool {
    switch self.as(SyntaxEnum.self) {
    case .functionDecl, .initializerDecl, .deinitializerDecl, .subscriptDecl, .accessorDecl,
      .closureExpr, .variableDecl:
      true
    default: false
    }
  }

  /// The modifier that makes a declaration private.
  fileprivate var privateModifier: DeclModifierSyntax? {
    self.asProtocol((any WithModifiersSyntax).self)?.modifiers.first(of: .private)
  }

  /// Whether the node is generic, or extends what may be.
  fileprivate var mayBeGeneric: Bool {
    if self.is(ExtensionDeclSyntax.self) { return true }
    return self.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}

extension DeclSyntax {
  /// The name of the type that is declared here.
  fileprivate var declaredTypeName: TokenSyntax? {
    switch self.as(DeclSyntaxEnum.self) {
    case .structDecl(let type): type.name
    case .enumDecl(let type): type.name
    case .classDecl(let type): type.name
    case .actorDecl(let type): type.name
    case .protocolDecl(let type): type.name
    case .typeAliasDecl(let type): type.name
    default: nil
    }
  }
}
