import SwiftSyntax

/// Readings of single nodes, always without the comments that may stand anywhere between tokens.
extension SyntaxProtocol {
  /// The source text without comments and without the space around it; `Self`, which means another
  /// type within the declarations of an expansion, is replaced by the name of the struct.
  func plainText(replacingSelfBy typeName: String? = nil) -> String {
    var text = ""
    for token in tokens(viewMode: .sourceAccurate) {
      text += token.leadingTrivia.withoutComments
      if token.tokenKind == .keyword(.Self), let typeName {
        text += typeName
      } else {
        text += token.text
      }
      text += token.trailingTrivia.withoutComments
    }
    let isSpace: (Character) -> Bool = { $0.isWhitespace }
    guard let start = text.firstIndex(where: { !isSpace($0) }),
      let end = text.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(text[start...end])
  }
}

extension Trivia {
  fileprivate var withoutComments: String {
    var text = ""
    for piece in pieces {
      switch piece {
      case .lineComment, .docLineComment: break
      case .blockComment, .docBlockComment: text += " "
      default: piece.write(to: &text)
      }
    }
    return text
  }
}

extension AttributeSyntax {
  /// The attribute's name without the module it may be written with.
  var name: String {
    if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
    return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.plainText()
  }

  /// The arguments as they are written, none where there are no parentheses.
  var labeledArguments: [LabeledExprSyntax] {
    guard case .argumentList(let list)? = arguments else { return [] }
    return Array(list)
  }
}

extension AttributeListSyntax {
  /// The first attribute of a name.
  func first(named name: String) -> AttributeSyntax? {
    lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.name == name }
  }
}

extension DeclModifierListSyntax {
  /// Who may read the declaration, where a modifier says so.
  var access: AccessLevel? {
    for modifier in self where modifier.detail == nil {
      switch modifier.name.tokenKind {
      case .keyword(.private): return .private
      case .keyword(.fileprivate): return .fileprivate
      case .keyword(.internal): return .internal
      case .keyword(.package): return .package
      case .keyword(.public), .keyword(.open): return .public
      default: continue
      }
    }
    return nil
  }

  /// The first modifier that is one of some keywords.
  func first(of keywords: Keyword...) -> DeclModifierSyntax? {
    first { modifier in keywords.contains { modifier.name.tokenKind == .keyword($0) } }
  }
}

extension VariableDeclSyntax {
  /// The bindings, each with the type that is written for it, if need be behind a later one as in
  /// `var width, height: Int`.
  var typedBindings: [(binding: PatternBindingSyntax, type: TypeSyntax?)] {
    var result: [(binding: PatternBindingSyntax, type: TypeSyntax?)] = []
    var following: TypeSyntax?
    for binding in bindings.reversed() {
      if binding.typeAnnotation != nil || binding.initializer != nil {
        following = binding.typeAnnotation?.type
      }
      result.append((binding, following))
    }
    return result.reversed()
  }
}

extension PatternBindingSyntax {
  /// Whether the property has a getter, and therefore no storage.
  var isComputed: Bool {
    guard let block = accessorBlock else { return false }
    guard case .accessors(let accessors) = block.accessors else { return true }
    return !accessors.allSatisfy { accessor in
      [.keyword(.willSet), .keyword(.didSet)].contains(accessor.accessorSpecifier.tokenKind)
    }
  }
}

extension IfConfigDeclSyntax {
  /// Whether a property with storage is declared in any of the clauses.
  var hasStoredProperties: Bool {
    clauses.contains { clause in
      guard case .decls(let items)? = clause.elements else { return false }
      return items.contains { item in
        if let nested = item.decl.as(IfConfigDeclSyntax.self) { return nested.hasStoredProperties }
        guard let property = item.decl.as(VariableDeclSyntax.self) else { return false }
        let isStatic = property.modifiers.first(of: .static) != nil
        return !isStatic && property.bindings.contains { !$0.isComputed }
      }
    }
  }
}

extension TokenSyntax {
  /// An identifier without its back-ticks.
  var bareName: String {
    let text = text
    guard text.count > 2, text.first == "`", text.last == "`" else { return text }
    return String(text.dropFirst().dropLast())
  }
}

extension ExprSyntax {
  /// The literal as it is written, when it is a string without interpolation.
  var plainString: StringLiteralExprSyntax? {
    guard let literal = self.as(StringLiteralExprSyntax.self),
      literal.segments.allSatisfy({ $0.is(StringSegmentSyntax.self) })
    else { return nil }
    return literal
  }

  /// The value of a Boolean literal.
  var booleanValue: Bool? {
    guard let literal = self.as(BooleanLiteralExprSyntax.self) else { return nil }
    return literal.literal.tokenKind == .keyword(.true)
  }

  /// Whether the expression is a literal, or makes a value out of nothing, and names nothing else.
  var isSelfContained: Bool {
    if self.is(NilLiteralExprSyntax.self) { return true }
    guard let call = self.as(FunctionCallExprSyntax.self) else {
      return self.as(StringLiteralExprSyntax.self).map { $0.segments.count == 1 }
        ?? (likelyType != nil)
    }
    return call.arguments.isEmpty && call.trailingClosure == nil
      && ["Date", "UUID", "Data"].contains(call.calledExpression.plainText())
  }

  /// The type that a literal, or the call of an initialiser, is most likely to have.
  var likelyType: String? {
    if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
    if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
    if self.is(FloatLiteralExprSyntax.self) { return "Double" }
    if self.is(StringLiteralExprSyntax.self) { return "String" }
    if let prefixed = self.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-" {
      return prefixed.expression.likelyType
    }
    guard let call = self.as(FunctionCallExprSyntax.self) else { return nil }
    let type = call.calledExpression.plainText()
    let last = type.split(separator: ".").last ?? ""
    let isName = type.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    return isName && last.first?.isUppercase == true ? type : nil
  }
}
