import SwiftDiagnostics
import SwiftSyntax

/// Reads the stored properties of a struct into columns, or says what is wrong with them.
struct ColumnParser {
  /// The name of the struct, for which `Self` stands.
  let typeName: String
  /// The access of the struct.
  let access: AccessLevel
  /// Whether the struct has no key.
  let isSelection: Bool
  /// Whether the struct lies within another type, which may have private types of its own.
  let isNested: Bool
  /// Finds the place of a node.
  let place: (TokenSyntax) -> SourcePlace?
  /// The types that can be named within the struct only.
  let hiddenTypes: Set<String>

  /// The columns read so far.
  private(set) var columns: [ColumnModel] = []
  /// What is wrong with them.
  private(set) var diagnostics: [Diagnostic] = []
  /// Where the type of a key is written, by property.
  private(set) var keyNodes: [String: Syntax] = [:]

  private var explicitKey = false
  private var implicitKey: Int?
  private var names: Set<String> = []

  /// A parser of the properties of one struct.
  init(
    for model: TableModel, hiddenTypes: Set<String>,
    place: @escaping (TokenSyntax) -> SourcePlace?
  ) {
    self.place = place
    typeName = model.typeName
    access = model.access
    isSelection = model.kind == .selection
    isNested = model.isNested
    self.hiddenTypes = hiddenTypes
  }

  /// Reads one declaration, which may be of several properties or of none that is stored.
  mutating func parse(_ property: VariableDeclSyntax) {
    let marks = Marks(property.attributes)
    for repeated in marks.repeated { report(TableDiagnostic.repeatedMark(repeated)) }
    let isStatic = property.modifiers.first(of: .static, .class) != nil
    for (binding, type) in property.typedBindings {
      let name = binding.pattern.plainText()
      switch (isStatic, binding.isComputed, marks.any) {
      case (true, _, let mark?): report(TableDiagnostic.staticColumn(mark, named: name))
      case (_, true, let mark?): report(TableDiagnostic.computedColumn(mark, named: name))
      case (true, _, nil), (_, true, nil): continue
      case (false, false, _): parse(binding, type, of: property, marks)
      }
    }
  }

  private mutating func report(_ diagnostic: Diagnostic) { diagnostics.append(diagnostic) }

  private mutating func parse(
    _ binding: PatternBindingSyntax, _ type: TypeSyntax?, of property: VariableDeclSyntax,
    _ marks: Marks
  ) {
    let isConstant = property.bindingSpecifier.tokenKind == .keyword(.let)
    if let ephemeral = marks.ephemeral {
      if let other = marks.column ?? marks.columns {
        report(TableDiagnostic.conflictingMarks(ephemeral, other.name, ephemeral.name))
      }
      let isNil = !isConstant && type?.is(OptionalTypeSyntax.self) == true
      let isLazy = property.modifiers.first(of: .lazy) != nil
      if binding.initializer == nil, !isNil, !isLazy {
        report(TableDiagnostic.ephemeralWithoutValue(binding, named: binding.pattern.plainText()))
      }
      return
    }
    if let modifier = property.modifiers.first(of: .lazy) {
      return report(TableDiagnostic.lazyColumn(modifier, of: property))
    }
    if let modifier = property.modifiers.first(of: .weak, .unowned) {
      return report(TableDiagnostic.referenceColumn(modifier, of: property))
    }
    guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
      return report(TableDiagnostic.tuplePattern(binding.pattern))
    }
    guard let type else {
      return report(
        TableDiagnostic.missingType(
          of: binding, named: name.text, inferred: binding.initializer?.value.likelyType))
    }
    let typeModel = TypeModel(type, in: typeName)
    var column = ColumnModel(
      property: name.text, name: quoted(name.bareName), type: typeModel, value: typeModel,
      access: visibility(of: property, type), initialValue: initialValue(of: binding, type))
    if isConstant { column.initialValue = nil }
    column.initialValueIsHidden = !(binding.initializer?.value.isSelfContained ?? true)
    let nameNode = parse(marks, into: &column) ?? Syntax(name)
    if column.isGroup || !column.value.names.isSubset(of: Self.knownTypes) {
      column.place = place(name)
    }
    check(column, binding, type, of: property, marks)
    if ["_scope", "queryFragment"].contains(name.bareName) {
      report(TableDiagnostic.reservedProperty(name, named: name.bareName))
    }
    if !column.isGroup, !names.insert(column.name.lowercased()).inserted {
      report(TableDiagnostic.duplicateColumn(nameNode, named: column.name))
    }
    if column.isPrimaryKey { keyNodes[column.property] = Syntax(type) }
    insertDefault(of: binding, into: &column)
    columns.append(column)
  }

  // MARK: Marks

  /// What the attributes of this library say of a property.
  private struct Marks {
    let column: AttributeSyntax?
    let columns: AttributeSyntax?
    let ephemeral: AttributeSyntax?
    /// What says a second time what one of these says.
    let repeated: [AttributeSyntax]

    init(_ attributes: AttributeListSyntax) {
      column = attributes.first(named: "Column")
      columns = attributes.first(named: "Columns")
      ephemeral = attributes.first(named: "Ephemeral")
      let first = [column, columns, ephemeral].compactMap { $0?.id }
      repeated = attributes.compactMap { $0.as(AttributeSyntax.self) }.filter { attribute in
        ["Column", "Columns", "Ephemeral"].contains(attribute.name) && !first.contains(attribute.id)
      }
    }

    /// The one that makes a column of the property.
    var any: AttributeSyntax? { column ?? columns }
  }

  /// Reads the marks and returns where the column's name is written, if it is.
  private mutating func parse(_ marks: Marks, into column: inout ColumnModel) -> Syntax? {
    if let columns = marks.columns {
      if let other = marks.column {
        report(TableDiagnostic.conflictingMarks(columns, other.name, columns.name))
      }
      column.isGroup = true
    }
    var nameNode: Syntax?
    var keyMark: Bool?
    let arguments = marks.column?.labeledArguments ?? []
    column.isGenerated = arguments.contains { $0.label?.text == "generated" }
    for argument in arguments {
      let value = argument.expression
      switch argument.label?.text {
      case nil:
        if value.is(NilLiteralExprSyntax.self) { continue }
        guard let literal = value.plainString else {
          report(TableDiagnostic.nameNotLiteral(value, of: "column"))
          continue
        }
        if literal.segments.plainText().isEmpty {
          report(TableDiagnostic.emptyName(value, of: "column"))
        }
        column.name = literal.plainText()
        nameNode = Syntax(value)
      case "as" where !column.isGenerated:
        guard var representation = TypeModel(metatype: value, in: typeName) else {
          report(TableDiagnostic.representationNotType(value))
          continue
        }
        if column.type.isOptional { representation.isOptional = true }
        column.value = representation
      case "primaryKey":
        keyMark = value.booleanValue
        if keyMark == nil { report(TableDiagnostic.flagNotLiteral(value, label: "primaryKey")) }
      case .some(let label):
        column.arguments.append("\(label): \(value.plainText(replacingSelfBy: typeName))")
      }
    }
    parseKey(keyMark, marks, into: &column)
    return nameNode
  }

  private mutating func parseKey(_ mark: Bool?, _ marks: Marks, into column: inout ColumnModel) {
    if mark == true, let attribute = marks.column {
      if isSelection { return report(TableDiagnostic.keyOfSelection(attribute)) }
      if column.isGenerated { return report(TableDiagnostic.generatedKey(attribute)) }
      if let implicitKey { setKey(false, of: &columns[implicitKey]) }
      implicitKey = nil
      explicitKey = true
      setKey(true, of: &column)
    } else if mark == nil, !explicitKey, !isSelection, !column.isGenerated, !column.isGroup,
      column.property == "id" || column.property == "`id`"
    {
      implicitKey = columns.count
      setKey(true, of: &column)
    }
  }

  private func setKey(_ isKey: Bool, of column: inout ColumnModel) {
    column.isPrimaryKey = isKey
    column.arguments.removeAll { $0 == "primaryKey: true" }
    if isKey { column.arguments.insert("primaryKey: true", at: 0) }
  }

  // MARK: Checks

  private mutating func check(
    _ column: ColumnModel, _ binding: PatternBindingSyntax, _ type: TypeSyntax,
    of property: VariableDeclSyntax, _ marks: Marks
  ) {
    let name = column.property
    let isConstant = property.bindingSpecifier.tokenKind == .keyword(.let)
    if column.isGenerated {
      if !isConstant { report(TableDiagnostic.generatedVariable(property, named: name)) }
      if binding.initializer != nil {
        report(TableDiagnostic.generatedWithValue(binding, named: name))
      }
    } else if isConstant, binding.initializer != nil {
      report(TableDiagnostic.constantWithValue(binding, named: name, of: property))
    }
    if column.isGroup, column.type.isOptional {
      report(TableDiagnostic.optionalGroup(type))
    }
    if column.value == column.type, let diagnostic = type.columnDiagnostic(in: property) {
      report(diagnostic)
    }
  }

  // MARK: Values

  private func initialValue(of binding: PatternBindingSyntax, _ type: TypeSyntax) -> String? {
    if let initializer = binding.initializer {
      return initializer.value.plainText(replacingSelfBy: typeName)
    }
    return type.is(OptionalTypeSyntax.self) ? "nil" : nil
  }

  /// Makes the initial value the column's default too where it is a literal of a type that SQLite
  /// keeps as it is, and nothing else is said.
  private func insertDefault(of binding: PatternBindingSyntax, into column: inout ColumnModel) {
    guard let literal = binding.initializer?.value, column.value == column.type,
      !column.isGroup, !column.isGenerated,
      !column.arguments.contains(where: { $0.hasPrefix("default:") })
    else { return }
    let integers = ["Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32"]
    let fits =
      switch literal.likelyType {
      case "Bool"? where literal.is(BooleanLiteralExprSyntax.self): column.type.wrapped == "Bool"
      case "Int"? where !literal.is(FunctionCallExprSyntax.self):
        (integers + ["UInt", "UInt64", "Double", "Float"]).contains(column.type.wrapped)
      case "Double"? where !literal.is(FunctionCallExprSyntax.self):
        ["Double", "Float"].contains(column.type.wrapped)
      case "String"? where literal.isPlainLine: column.type.wrapped == "String"
      default: false
      }
    guard fits else { return }
    let before = ["primaryKey", "unique", "indexed", "check"]
    let position = column.arguments.firstIndex { argument in
      !before.contains { argument.hasPrefix($0 + ":") }
    }
    column.arguments.insert(
      "default: \(literal.plainText())", at: position ?? column.arguments.count)
  }

  /// Who may see the column: those who see the property, but for one that is private, which the whole
  /// file may use in its statements unless its type can be private too.
  private func visibility(of property: VariableDeclSyntax, _ type: TypeSyntax) -> AccessLevel {
    let own = min(property.modifiers.access ?? .internal, max(access, .internal))
    guard own == .private else { return own }
    let isHidden = type.names.contains { name in
      hiddenTypes.contains(name) || isNested && !Self.knownTypes.contains(name)
    }
    return isHidden ? .private : .fileprivate
  }

  /// The types of which it is certain that they can be columns, and that all can name them.
  private static let knownTypes: Set = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
    "UInt64", "Double", "Float", "String", "Data", "Date", "UUID", "URL", "Decimal", "Optional",
    "Swift", "Foundation",
  ]
}

extension ExprSyntax {
  /// Whether the expression is a string literal of one line, not raw and without interpolation.
  fileprivate var isPlainLine: Bool {
    guard let literal = plainString else { return false }
    return literal.openingPounds == nil && literal.openingQuote.tokenKind == .stringQuote
  }
}
