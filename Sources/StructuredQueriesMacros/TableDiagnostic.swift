import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// What a macro has to say about a declaration, with the change that would mend it.
///
/// Every message and every fix-it of the macros is made here, one function each.
struct TableDiagnostic: DiagnosticMessage {
  let message: String
  let diagnosticID: MessageID
  var severity: DiagnosticSeverity { .error }

  private init(_ message: String, id: String) {
    self.message = message
    diagnosticID = MessageID(domain: "StructuredQueries", id: id)
  }

  private static func error(
    at node: some SyntaxProtocol, position: AbsolutePosition? = nil, id: String = #function,
    _ message: String, fixIts: [FixIt] = []
  ) -> Diagnostic {
    let name = id.prefix { $0 != "(" }
    return Diagnostic(
      node: node, position: position, message: TableDiagnostic(message, id: String(name)),
      fixIts: fixIts)
  }

  private struct Remedy: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "StructuredQueries", id: message) }
  }

  private static func remedy(_ message: String, _ changes: FixIt.Change...) -> FixIt {
    remedy(message, changes)
  }

  private static func remedy(_ message: String, _ changes: [FixIt.Change]) -> FixIt {
    FixIt(message: Remedy(message: message), changes: changes)
  }
}

// MARK: The declaration

extension TableDiagnostic {
  static func notAStruct(_ declaration: some DeclGroupSyntax, macro: String) -> Diagnostic {
    let keyword = declaration.introducer
    let replacement = keyword.with(\.tokenKind, .keyword(.struct))
    let message = "'@\(macro)' can only be used with a struct"
    guard keyword.tokenKind == .keyword(.class) else { return error(at: keyword, message) }
    var changes = [FixIt.Change.replace(oldNode: Syntax(keyword), newNode: Syntax(replacement))]
    if let final = declaration.modifiers.first(of: .final) {
      let range = final.positionAfterSkippingLeadingTrivia..<final.endPosition
      changes.append(.replaceText(range: range, with: "", in: Syntax(final)))
    }
    return error(at: keyword, message, fixIts: [remedy("Make it a struct", changes)])
  }

  static func localType(_ attribute: AttributeSyntax, macro: String) -> Diagnostic {
    error(
      at: attribute,
      "'@\(macro)' cannot be used with a type inside a function: move the type out of it")
  }

  /// `modifier` is the struct's own, nil where a type around it is the one that is private.
  static func outOfReach(
    _ modifier: DeclModifierSyntax?, _ attribute: AttributeSyntax, macro: String
  ) -> Diagnostic {
    let message =
      "'@\(macro)' extends the struct, which a 'private' within another type does not allow"
    guard let modifier else { return error(at: attribute, message) }
    let replacement = modifier.with(\.name.tokenKind, .keyword(.fileprivate))
    return error(
      at: modifier, message,
      fixIts: [
        remedy(
          "Replace 'private' by 'fileprivate'",
          .replace(oldNode: Syntax(modifier), newNode: Syntax(replacement)))
      ])
  }

  static func twoTableMacros(_ attribute: AttributeSyntax, other: String) -> Diagnostic {
    error(
      at: attribute, "'@\(other)' already makes this struct a table",
      fixIts: [removal(of: attribute)])
  }

  static func nameNotLiteral(_ expression: some ExprSyntaxProtocol, of what: String) -> Diagnostic {
    error(
      at: expression, "the name of a \(what) must be a string literal without interpolation")
  }

  static func emptyName(_ expression: some ExprSyntaxProtocol, of what: String) -> Diagnostic {
    error(at: expression, "the name of a \(what) must not be empty")
  }

  static func flagNotLiteral(_ expression: some ExprSyntaxProtocol, label: String) -> Diagnostic {
    error(at: expression, "'\(label)' must be 'true' or 'false'")
  }

  static func noColumns(_ name: TokenSyntax) -> Diagnostic {
    error(at: name, "'\(name.trimmedDescription)' has no columns: declare a stored property")
  }

  static func nameTaken(_ name: TokenSyntax, macro: String) -> Diagnostic {
    error(
      at: name, "'@\(macro)' declares a type of the name '\(name.trimmedDescription)' itself")
  }

  static func initializerTaken(_ initializer: InitializerDeclSyntax, macro: String) -> Diagnostic {
    error(at: initializer.initKeyword, "'@\(macro)' declares 'init(decoder:)' itself")
  }

  static func withoutKey(_ argument: some SyntaxProtocol) -> Diagnostic {
    error(
      at: argument,
      "a table without row id needs a primary key: mark a property '@Column(primaryKey: true)'")
  }

  static func conditionUnknown(_ clause: some SyntaxProtocol) -> Diagnostic {
    error(
      at: clause,
      "a macro cannot tell whether this condition holds; use one of the platform, the compiler or "
        + "'-D' around columns")
  }
}

// MARK: The property

extension TableDiagnostic {
  static func missingType(
    of binding: PatternBindingSyntax, named name: String, inferred: String?
  ) -> Diagnostic {
    let type = inferred ?? "<#Type#>"
    // The annotation takes over what stands between the name and its initial value.
    var annotated = binding
    annotated.pattern = binding.pattern.with(\.trailingTrivia, [])
    annotated.typeAnnotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space),
      type: IdentifierTypeSyntax(name: .identifier(type)),
      trailingTrivia: binding.pattern.trailingTrivia)
    return error(
      at: binding.pattern, "the column '\(name)' needs a type annotation",
      fixIts: [
        remedy(
          "Insert ': \(type)'", .replace(oldNode: Syntax(binding), newNode: Syntax(annotated)))
      ])
  }

  static func tuplePattern(_ pattern: PatternSyntax) -> Diagnostic {
    error(at: pattern, "a tuple cannot be a column: declare one property for each of its parts")
  }

  static func unsupportedType(_ type: TypeSyntax, _ reason: String) -> Diagnostic {
    error(at: type, "\(reason) cannot be a column; mark the property '@Ephemeral' to leave it out")
  }

  static func tupleType(_ type: TypeSyntax) -> Diagnostic {
    error(at: type, "a tuple cannot be a column: declare one property for each of its parts")
  }

  static func implicitlyUnwrapped(_ type: ImplicitlyUnwrappedOptionalTypeSyntax) -> Diagnostic {
    let optional = OptionalTypeSyntax(
      leadingTrivia: type.leadingTrivia, wrappedType: type.wrappedType,
      trailingTrivia: type.trailingTrivia)
    return error(
      at: type, "an implicitly unwrapped optional cannot be a column",
      fixIts: [
        remedy(
          "Replace '!' by '?'", .replace(oldNode: Syntax(type), newNode: Syntax(optional)))
      ])
  }

  static func collectionType(
    _ type: TypeSyntax, wrapped: String, of property: VariableDeclSyntax
  ) -> Diagnostic {
    let representation = "\(wrapped).JSONRepresentation"
    let marked = property.attributes.contains { element in
      element.as(AttributeSyntax.self)?.name == "Column"
    }
    return error(
      at: type,
      "a collection needs a representation to be a column, such as '@Column(as: "
        + "\(representation).self)'",
      fixIts: marked
        ? [] : [insertion(of: "@Column(as: \(representation).self)", before: property)])
  }

  static func computedColumn(_ attribute: AttributeSyntax, named name: String) -> Diagnostic {
    error(
      at: attribute,
      "the computed property '\(name)' cannot be a column; a column that the database computes is "
        + "declared '@Column(generated: .virtual, as: \"…\") let \(name)'",
      fixIts: [removal(of: attribute)])
  }

  static func staticColumn(_ attribute: AttributeSyntax, named name: String) -> Diagnostic {
    error(
      at: attribute, "the static property '\(name)' cannot be a column",
      fixIts: [removal(of: attribute)])
  }

  static func lazyColumn(
    _ modifier: DeclModifierSyntax, of property: VariableDeclSyntax
  ) -> Diagnostic {
    error(
      at: modifier, "a lazy property cannot be a column",
      fixIts: [insertion(of: "@Ephemeral", before: property)])
  }

  static func referenceColumn(
    _ modifier: DeclModifierSyntax, of property: VariableDeclSyntax
  ) -> Diagnostic {
    error(
      at: modifier, "a '\(modifier.name.text)' reference cannot be a column",
      fixIts: [insertion(of: "@Ephemeral", before: property)])
  }

  static func constantWithValue(
    _ binding: PatternBindingSyntax, named name: String, of property: VariableDeclSyntax
  ) -> Diagnostic {
    let keyword = property.bindingSpecifier
    let variable = keyword.with(\.tokenKind, .keyword(.var))
    return error(
      at: binding.initializer.map(Syntax.init) ?? Syntax(binding),
      "the constant '\(name)' has its value already and could never be read from a row",
      fixIts: [
        remedy(
          "Replace 'let' by 'var'", .replace(oldNode: Syntax(keyword), newNode: Syntax(variable))),
        remedy(
          "Remove the initial value",
          .replace(oldNode: Syntax(binding), newNode: Syntax(withoutValue(binding)))),
        insertion(of: "@Ephemeral", before: property),
      ])
  }

  static func ephemeralWithoutValue(
    _ binding: PatternBindingSyntax, named name: String
  ) -> Diagnostic {
    var initialized = binding.with(\.trailingTrivia, [])
    initialized.initializer = InitializerClauseSyntax(
      equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
      value: EditorPlaceholderExprSyntax(placeholder: .identifier("<#value#>")),
      trailingTrivia: binding.trailingTrivia)
    return error(
      at: binding.pattern,
      "the ephemeral property '\(name)' needs an initial value, since no row has one for it",
      fixIts: [
        remedy(
          "Insert '= <#value#>'",
          .replace(oldNode: Syntax(binding), newNode: Syntax(initialized)))
      ])
  }

  static func generatedVariable(_ property: VariableDeclSyntax, named name: String) -> Diagnostic {
    let keyword = property.bindingSpecifier
    let constant = keyword.with(\.tokenKind, .keyword(.let))
    return error(
      at: keyword,
      "the generated column '\(name)' is never written and must be declared with 'let'",
      fixIts: [
        remedy(
          "Replace 'var' by 'let'", .replace(oldNode: Syntax(keyword), newNode: Syntax(constant)))
      ])
  }

  static func generatedWithValue(
    _ binding: PatternBindingSyntax, named name: String
  ) -> Diagnostic {
    error(
      at: binding.initializer.map(Syntax.init) ?? Syntax(binding),
      "the generated column '\(name)' has the value of its expression and no initial one",
      fixIts: [
        remedy(
          "Remove the initial value",
          .replace(oldNode: Syntax(binding), newNode: Syntax(withoutValue(binding))))
      ])
  }

  static func generatedKey(_ attribute: AttributeSyntax) -> Diagnostic {
    error(at: attribute, "a generated column cannot be a primary key")
  }

  static func conflictingMarks(
    _ attribute: AttributeSyntax, _ one: String, _ other: String
  ) -> Diagnostic {
    error(
      at: attribute, "a property is either '@\(one)' or '@\(other)'",
      fixIts: [removal(of: attribute)])
  }

  static func repeatedMark(_ attribute: AttributeSyntax) -> Diagnostic {
    error(
      at: attribute, "a second '@\(attribute.name)': say all in one",
      fixIts: [removal(of: attribute)])
  }

  static func noncopyable(_ type: some SyntaxProtocol) -> Diagnostic {
    error(at: type, "a struct that cannot be copied cannot be a table or a result row")
  }

  static func optionalGroup(_ type: TypeSyntax) -> Diagnostic {
    error(at: type, "a group of columns cannot be optional: make its columns optional")
  }

  static func duplicateColumn(_ node: some SyntaxProtocol, named name: String) -> Diagnostic {
    error(
      at: node,
      "another column is named \(name) too; names that differ in case only are one to SQLite")
  }

  static func reservedProperty(_ pattern: some SyntaxProtocol, named name: String) -> Diagnostic {
    error(
      at: pattern,
      "the expansion needs the name '\(name)': name the property otherwise and the "
        + "column with '@Column(\"\(name)\")'")
  }

  static func optionalKeyPart(_ type: some SyntaxProtocol, named name: String) -> Diagnostic {
    error(
      at: type,
      "'\(name)' conflicts with the other primary key: the parts of a composite primary key cannot "
        + "be optional")
  }

  static func keyOfSelection(_ attribute: AttributeSyntax) -> Diagnostic {
    error(at: attribute, "a '@Selection' has no primary key; only a '@Table' has one")
  }

  static func representationNotType(_ expression: some ExprSyntaxProtocol) -> Diagnostic {
    error(
      at: expression,
      "the representation must be written as a type, such as 'Date.UnixTimeRepresentation.self'")
  }

  static func markedNonProperty(_ attribute: AttributeSyntax, macro: String) -> Diagnostic {
    error(
      at: attribute, "'@\(macro)' can only mark a stored property",
      fixIts: [removal(of: attribute)])
  }

  static func markedOutsideTable(_ attribute: AttributeSyntax, macro: String) -> Diagnostic {
    error(
      at: attribute,
      "'@\(macro)' has a meaning only in a struct that is a '@Table', '@BoutiqueTable' or "
        + "'@Selection'",
      fixIts: [removal(of: attribute)])
  }
}

// MARK: SQL

extension TableDiagnostic {
  static func sqlNotLiteral(_ expression: some SyntaxProtocol) -> Diagnostic {
    error(
      at: expression,
      "'#sql' takes a string literal, so that values are bound and never become part of the text")
  }

  static func sqlInterpolatedInQuotes(_ segment: ExpressionSegmentSyntax) -> Diagnostic {
    error(
      at: segment,
      "an interpolated value within quotes is not bound: remove the quotes around it")
  }

  static func sqlUnbalanced(
    _ node: some SyntaxProtocol, at position: AbsolutePosition, character: Character
  ) -> Diagnostic {
    error(at: node, position: position, "'\(character)' has no counterpart in this SQL")
  }
}

// MARK: Changes

extension TableDiagnostic {
  private static func removal(of attribute: AttributeSyntax) -> FixIt {
    remedy(
      "Remove '@\(attribute.name)'",
      .replaceText(
        range: attribute.positionAfterSkippingLeadingTrivia..<attribute.endPosition, with: "",
        in: Syntax(attribute)))
  }

  private static func insertion(
    of attribute: String, before property: VariableDeclSyntax
  ) -> FixIt {
    let position = property.positionAfterSkippingLeadingTrivia
    return remedy(
      "Insert '\(attribute)'",
      .replaceText(range: position..<position, with: attribute + " ", in: Syntax(property)))
  }

  private static func withoutValue(_ binding: PatternBindingSyntax) -> PatternBindingSyntax {
    var bare = binding
    bare.initializer = nil
    return bare.with(\.trailingTrivia, binding.trailingTrivia)
  }
}
