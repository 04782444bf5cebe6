import SwiftDiagnostics
import SwiftSyntax

/// Readings of the types of columns.
extension TypeModel {
  /// A type as it is written.
  init(_ type: TypeSyntax, in typeName: String) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      self.init(optional.wrappedType.unparenthesised, isOptional: true, in: typeName)
    } else if let wrapped = type.explicitlyOptional {
      self.init(wrapped, isOptional: true, in: typeName)
    } else {
      self.init(type, isOptional: false, in: typeName)
    }
  }

  private init(_ type: TypeSyntax, isOptional: Bool, in typeName: String) {
    let text = type.plainText(replacingSelfBy: typeName)
    self.init(wrapped: text, isOptional: isOptional, isSimple: Self.isSimple(text))
  }

  /// A type that is written as a value, such as `Date.UnixTimeRepresentation.self`.
  init?(metatype expression: ExprSyntax, in typeName: String) {
    guard let access = expression.as(MemberAccessExprSyntax.self),
      access.declName.baseName.tokenKind == .keyword(.self), let base = access.base
    else { return nil }
    let optional = base.as(OptionalChainingExprSyntax.self)
    let text = (optional?.expression ?? base).plainText(replacingSelfBy: typeName)
    self.init(wrapped: text, isOptional: optional != nil, isSimple: Self.isSimple(text))
  }

  /// The identifiers in the type.
  var names: Set<String> {
    Set(wrapped.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
  }

  private static func isSimple(_ text: String) -> Bool {
    text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
  }
}

extension TypeSyntax {
  /// Says why a type cannot be that of a column, nothing when it can.
  ///
  /// Only what can be told from the source is refused here; whether a name means a type that SQLite
  /// can keep is for the compiler to find.
  func columnDiagnostic(in property: VariableDeclSyntax) -> Diagnostic? {
    if let unwrapped = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return TableDiagnostic.implicitlyUnwrapped(unwrapped)
    }
    var type = self
    if let optional = self.as(OptionalTypeSyntax.self) {
      type = optional.wrappedType
    } else if let wrapped = explicitlyOptional {
      type = wrapped
    }
    type = type.unparenthesised
    if type.is(TupleTypeSyntax.self) { return TableDiagnostic.tupleType(self) }
    if type.isCollection {
      return TableDiagnostic.collectionType(self, wrapped: type.plainText(), of: property)
    }
    return type.unsupportedKind.map { TableDiagnostic.unsupportedType(self, $0) }
  }

  /// The identifiers in the type.
  var names: Set<String> {
    Set(
      tokens(viewMode: .sourceAccurate).compactMap { token in
        guard case .identifier = token.tokenKind else { return nil }
        return token.bareName
      })
  }

  fileprivate var explicitlyOptional: TypeSyntax? {
    guard let (name, arguments) = nameAndArguments, name == "Optional", arguments.count == 1,
      case .type(let wrapped)? = arguments.first?.argument
    else { return nil }
    return wrapped
  }

  fileprivate var unparenthesised: TypeSyntax {
    guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.firstName == nil
    else { return self }
    return element.type.unparenthesised
  }

  private var nameAndArguments: (name: String, arguments: GenericArgumentListSyntax)? {
    if let type = self.as(IdentifierTypeSyntax.self), let clause = type.genericArgumentClause {
      return (type.name.text, clause.arguments)
    }
    if let type = self.as(MemberTypeSyntax.self), let clause = type.genericArgumentClause,
      type.baseType.plainText() == "Swift"
    {
      return (type.name.text, clause.arguments)
    }
    return nil
  }

  private var isCollection: Bool {
    if self.is(DictionaryTypeSyntax.self) { return true }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.plainText() != "UInt8" }
    guard let (name, arguments) = nameAndArguments else { return false }
    switch name {
    case "Array": return arguments.plainText() != "UInt8"
    case "Dictionary", "Set": return true
    default: return false
    }
  }

  private var unsupportedKind: String? {
    switch self.as(TypeSyntaxEnum.self) {
    case .functionType: return "a function"
    case .attributedType: return "a function or an attributed type"
    case .metatypeType: return "a metatype"
    case .compositionType: return "a composition of protocols"
    case .someOrAnyType(let type): return "a value of type '\(type.plainText())'"
    case .optionalType: return "an optional of an optional"
    case .inlineArrayType: return "an inline array"
    case .suppressedType, .packExpansionType, .packElementType:
      return "a value of type '\(plainText())'"
    case .identifierType(let type)
    where ["Any", "AnyObject", "Void", "Never"].contains(type.name.text):
      return "a value of type '\(type.name.text)'"
    default: return nil
    }
  }
}
