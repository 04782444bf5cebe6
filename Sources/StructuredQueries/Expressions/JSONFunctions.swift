// JSON as text. The binary twins (`jsonb`) need SQLite 3.45.

extension QueryExpression where QueryValue: QueryRepresentable {
  /// `json_extract`: the value at a path (`"$.tags[0]"`), NULL when there is none.
  public func jsonExtract<Value: QueryRepresentable>(
    _ path: String, as type: Value.Type
  ) -> SQLQueryExpression<Value.Unwrapped?> {
    call("json_extract", queryFragment, "\(path)")
  }
  /// `json_array_length`: the number of elements, of the array at a path when one is given.
  public func jsonArrayLength(_ path: String = "$") -> SQLQueryExpression<Int?> {
    call("json_array_length", queryFragment, "\(path)")
  }
  /// `json_type`: the kind of the value as text, `"array"` for one.
  public func jsonType(_ path: String = "$") -> SQLQueryExpression<String?> {
    call("json_type", queryFragment, "\(path)")
  }
  /// `json_valid`.
  public func jsonValid() -> SQLQueryExpression<Bool> { call("json_valid", queryFragment) }
  /// `json_set`: puts a value at a path, new or not.
  public func jsonSet(
    _ path: String, _ value: some QueryBindable
  ) -> SQLQueryExpression<QueryValue> {
    call("json_set", queryFragment, "\(path)", "\(value)")
  }
  /// `json_insert`: puts a value at a path where there is none.
  public func jsonInsert(
    _ path: String, _ value: some QueryBindable
  ) -> SQLQueryExpression<QueryValue> {
    call("json_insert", queryFragment, "\(path)", "\(value)")
  }
  /// `json_replace`: puts a value at a path where there is one.
  public func jsonReplace(
    _ path: String, _ value: some QueryBindable
  ) -> SQLQueryExpression<QueryValue> {
    call("json_replace", queryFragment, "\(path)", "\(value)")
  }
  /// `json_remove`: the JSON without what is at a path.
  public func jsonRemove(_ path: String) -> SQLQueryExpression<QueryValue> {
    call("json_remove", queryFragment, "\(path)")
  }
}

/// Returns `json_object` of names and expressions.
public func jsonObject(
  _ members: (String, any QueryExpression)...
) -> SQLQueryExpression<String> {
  let parts = members.map { "\($0.0), \($0.1.queryFragment)" as SQLFragment }
  return SQLQueryExpression(fragment: "json_object(\(parts.joined(", ")))")
}

/// Returns `json_array` of expressions.
public func jsonArray(_ elements: any QueryExpression...) -> SQLQueryExpression<String> {
  SQLQueryExpression(fragment: "json_array(\(elements.map(\.queryFragment).joined(", ")))")
}
