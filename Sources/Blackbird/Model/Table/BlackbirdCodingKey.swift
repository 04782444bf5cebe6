/// The coding keys of a model whose coded names are not those of its columns.
///
/// ```swift
/// enum CodingKeys: String, BlackbirdCodingKey {
///   case id
///   case title = "headline"
/// }
/// ```
///
/// JSON then has `headline`, and the table has `title`: columns are named after the properties.
public protocol BlackbirdCodingKey: RawRepresentable, CodingKey, CaseIterable
where RawValue == String {}

/// Returns the name that a key has in Swift, for a ``BlackbirdCodingKey``; else its coded name.
func codedName<Key: CodingKey>(of key: Key) -> String {
  guard key is any BlackbirdCodingKey, let name = enumCaseName(key) else { return key.stringValue }
  return String(cString: name)
}

// The standard library's own look-up of the name of a case; it has no public form for enums that
// describe themselves, as coding keys do. Returns nil for what is no enum.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?
