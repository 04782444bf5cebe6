/// Writes the declarations that a model asks for; reads no syntax.
///
/// Most of them are members of the struct, because only there the names of the declarations around
/// it are seen. The initialiser is not: within the struct it would take away the memberwise one.
struct TableExpansion {
  /// What to write.
  let model: TableModel

  private static let library = "StructuredQueries"
  private var library: String { Self.library }

  /// The members of the struct.
  var members: [String] {
    if model.kind == .columnsOfTable { return [selectionColumns] }
    var members = [tableColumns, schema, encodeColumns]
    if model.columns.contains(where: { $0.place != nil }) { members.append(columnTypes) }
    if model.kind == .selection { members.append(selectionColumns) }
    if !model.key.isEmpty { members += [primaryKey, encodeKey] }
    if model.key.count == 1 { members.append(draft) }
    return members
  }

  /// The protocols that the struct conforms to, none where another macro sees to it.
  ///
  /// Each is named, though the last implies the others: from a macro, the compiler takes only those
  /// conformances that are named, and promised by the macro's declaration, for certain.
  var conformances: [String] {
    switch (model.kind, model.key.count) {
    case (.columnsOfTable, _): []
    case (_, 0): ["QueryRow", "Table"]
    case (_, 1): ["QueryRow", "Table", "PrimaryKeyedTable", "DraftableTable"]
    default: ["QueryRow", "Table", "PrimaryKeyedTable"]
    }
  }

  /// The extension that conforms the struct to some of these protocols, and makes it from a row.
  func conformingExtension(of type: String, to protocols: [String]) -> String {
    let names = protocols.map { "\(library).\($0)" }.joined(separator: ", ")
    let clause = names.isEmpty ? "" : ": \(names)"
    let header =
      "\(access)nonisolated init(decoder: inout \(library).RowDecoder) "
      + "throws(\(library).DecodingFailure)"
    let decoding = model.columns.map { column in
      "self.\(column.property) = try decoder.decode(\(metatype(column)))"
    }
    return block("extension \(type)\(clause)", [block(header, decoding)])
  }

  private var access: String { max(model.access, .internal).modifier }

  // MARK: Columns

  private var tableColumns: String {
    let properties = model.columns.flatMap { column in
      let (type, value) =
        switch (column.isGroup, column.isGenerated) {
        case (true, _):
          ("\(library).GroupColumns<\(column.type.text)>", "_scope.group(\(column.type.metatype))")
        case (_, true):
          (columnType("GeneratedColumn", column), "_scope.generated(\(column.name))")
        case (_, false):
          (columnType("TableColumn", column), "_scope.column(\(column.name))")
        }
      return located(
        "\(column.access.modifier)var \(column.property): \(type) { \(value) }", column)
    }
    return block(
      "\(access)nonisolated struct TableColumns: \(library).TableColumnSet",
      [
        "\(access)typealias QueryValue = \(model.typeName)",
        "\(access)let _scope: \(library).ColumnScope",
        "\(access)init(_scope: \(library).ColumnScope) { self._scope = _scope }",
      ] + properties)
  }

  private func columnType(_ name: String, _ column: ColumnModel) -> String {
    "\(library).\(name)<\(model.typeName), \(column.value.text)>"
  }

  /// The types of which the compiler must find out whether they can be columns, and the types that an
  /// extension may not see.
  ///
  /// It says so once for each, at the property: what is made with a wrong alias is not reported.
  private var columnTypes: String {
    let aliases = model.columns.enumerated().flatMap { position, column in
      let type = "\(library)._ColumnType<\(column.value.text), \(column.type.text)>"
      return column.place == nil
        ? [] : located("typealias column\(position) = \(type)", column)
    }
    return block("private enum _ColumnTypes", aliases)
  }

  private func located(_ declaration: String, _ column: ColumnModel) -> [String] {
    guard let place = column.place else { return [declaration] }
    return [
      "#sourceLocation(file: \(place.file), line: \(place.line))", declaration, "#sourceLocation()",
    ]
  }

  private func keyMetatype(_ column: ColumnModel) -> String {
    column.value.isOptional ? column.value.wrappedMetatype : metatype(column)
  }

  private func metatype(_ column: ColumnModel) -> String {
    guard column.place != nil,
      let position = model.columns.firstIndex(where: { $0.property == column.property })
    else { return column.value.metatype }
    return "_ColumnTypes.column\(position).self"
  }

  private var selectionColumns: String {
    let lowest = model.columns.map(\.access).min() ?? .internal
    let parameters = model.columns.map { column in
      "\(parameter(column)): some \(library).QueryExpression<\(column.value.text)>"
    }
    let columns = model.columns.map { "Self.column(\(argument($0)), \($0.name))," }
    return block(
      "\(access)nonisolated struct Columns: \(library).SelectionColumns",
      [
        "\(access)typealias QueryValue = \(model.typeName)",
        "\(access)let selection: [\(library).SQLFragment]",
        block(
          "\(lowest.modifier)init(\(parameters.joined(separator: ", ")))",
          ["self.selection = ["] + columns.map { "  " + $0 } + ["]"]),
      ])
  }

  // MARK: Schema

  private var schema: String {
    let columns = model.columns.map { column in
      if column.isGroup { return "\(library).ColumnDefinition.group(\(metatype(column)))," }
      let arguments = [column.name, metatype(column)] + column.arguments
      return "\(library).ColumnDefinition(\(arguments.joined(separator: ", "))),"
    }
    var lines = ["\(model.tableName),", "["] + columns.map { "  " + $0 }
    if model.options.isEmpty {
      lines.append("]")
    } else {
      let options = model.options.joined(separator: ", ")
      lines += ["],", "\(library).TableOptions(\(options))"]
    }
    let value = ["\(library).TableSchema("] + lines.map { "  " + $0 } + [")"]
    let declaration = "\(access)nonisolated static"
    guard model.isGeneric else {
      return
        "\(declaration) let tableSchema: \(library).TableSchema = \(value.joined(separator: "\n"))"
    }
    return block(
      "\(declaration) var tableSchema: \(library).TableSchema",
      [block("\(library).TableSchema.shared(by: Self.self)", value)])
  }

  // MARK: Writing

  private var encodeColumns: String {
    block(encodeColumnsHeader, model.written.map(encode))
  }

  private var encodeColumnsHeader: String {
    "\(access)nonisolated func encodeColumns(into encoder: inout \(library).RowEncoder)"
  }

  private func encode(_ column: ColumnModel) -> String {
    "encoder.encode(self.\(column.property), as: \(metatype(column)))"
  }

  // MARK: Key

  private var primaryKey: String {
    let types = model.key.map(\.type.wrapped)
    let type = types.count == 1 ? types[0] : "(\(types.joined(separator: ", ")))"
    return "\(access)typealias PrimaryKey = \(type)"
  }

  private var encodeKey: String {
    let key = model.key
    return block(
      "\(access)nonisolated static func encodeKey"
        + "(_ key: PrimaryKey, into encoder: inout \(library).RowEncoder)",
      key.enumerated().map { position, column in
        let part = key.count == 1 ? "key" : "key.\(position)"
        return "encoder.encode(\(part), as: \(keyMetatype(column)))"
      })
  }

  // MARK: Draft

  private var draft: String {
    let columns = model.written
    let properties = columns.flatMap { column in
      located("\(column.access.modifier)var \(column.property): \(draftType(column))", column)
    }
    let encoding = columns.map { column in
      guard column.isPrimaryKey else { return encode(column) }
      return "encoder.encodeKey(self.\(column.property), as: \(keyMetatype(column)))"
    }
    return block(
      "\(access)nonisolated struct Draft: \(library).TableDraft",
      ["\(access)typealias Model = \(model.typeName)"] + properties + initialValues + [
        draftInitializer,
        block(
          "\(access)init(_ model: \(model.typeName))",
          columns.map { "self.\($0.property) = model.\($0.property)" }),
        block(encodeColumnsHeader, encoding),
      ])
  }

  private func draftType(_ column: ColumnModel) -> String {
    column.isPrimaryKey ? column.type.optionalText : column.type.text
  }

  /// The memberwise initialiser.
  ///
  /// A property that fewer see than the draft is no parameter where it has a value of its own, so
  /// that the others who see the draft can still make one.
  private var draftInitializer: String {
    var parameters: [String] = []
    var assignments: [String] = []
    for column in model.written {
      let name = column.property
      let initial = draftValue(column)
      if column.access < draftAccess, let initial {
        assignments.append("self.\(name) = \(initial)")
        continue
      }
      let value = initial.map { " = \(isApart(column) ? initialName(column) : $0)" } ?? ""
      parameters.append("\(parameter(column)): \(draftType(column))\(value)")
      assignments.append("self.\(name) = \(argument(column))")
    }
    return block(
      "\(draftAccess.modifier)init(\(parameters.joined(separator: ", ")))", assignments)
  }

  /// Who can make a draft: all who see those properties that must be given.
  private var draftAccess: AccessLevel {
    let demanded = model.written.filter { draftValue($0) == nil }.map(\.access)
    return min(demanded.min() ?? .public, max(model.access, .internal))
  }

  private func draftValue(_ column: ColumnModel) -> String? {
    column.isPrimaryKey ? "nil" : column.initialValue
  }

  /// The initial values that a public initialiser must not name itself, though it may use them.
  private var initialValues: [String] {
    model.written.filter(isApart).map { column in
      let value = "{ \(column.initialValue ?? "nil") }"
      return "@usableFromInline static var \(initialName(column)): \(draftType(column)) \(value)"
    }
  }

  private func isApart(_ column: ColumnModel) -> Bool {
    !column.isPrimaryKey && column.initialValueIsHidden && column.access == .public
      && draftAccess == .public
  }

  private func initialName(_ column: ColumnModel) -> String {
    let position = model.columns.firstIndex { $0.property == column.property } ?? 0
    return "_initial\(position)"
  }

  /// A parameter with the name of a property; one named `self` would hide the other `self`.
  private func parameter(_ column: ColumnModel) -> String {
    column.property == argument(column) ? column.property : "\(column.property) \(argument(column))"
  }

  private func argument(_ column: ColumnModel) -> String {
    column.property == "`self`" ? "_self" : column.property
  }

  /// A declaration with its body.
  ///
  /// All lines of a string literal move together, so that it stays what it is.
  private func block(_ header: String, _ body: [String]) -> String {
    let lines = body.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
    let indented = lines.map { $0.isEmpty ? "" : "  " + $0 }
    return ([header + " {"] + indented + ["}"]).joined(separator: "\n")
  }
}
