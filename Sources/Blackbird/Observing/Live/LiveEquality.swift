/// Whether two results are equal as far as their type can tell; results that cannot be compared never are.
func areEqualResults<Value>(_ a: Value, _ b: Value) -> Bool {
  guard let a = a as? any Equatable else { return false }
  return a.isEqualResult(b)
}

extension Equatable {
  fileprivate func isEqualResult(_ other: Any) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}
