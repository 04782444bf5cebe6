// `$0.stock += 1` for the usual types.
//
// These are functions of concrete types although generic ones exist: where the standard library has an operator
// for the column's type, the compiler does not look at generic ones at all.

/// Adds a number.
public func += (left: inout UpdatableColumn<Int>, right: Int) { left.change(" + ", right) }
/// Subtracts a number.
public func -= (left: inout UpdatableColumn<Int>, right: Int) { left.change(" - ", right) }
/// Multiplies by a number.
public func *= (left: inout UpdatableColumn<Int>, right: Int) { left.change(" * ", right) }
/// Divides by a number.
public func /= (left: inout UpdatableColumn<Int>, right: Int) { left.change(" / ", right) }

/// Adds a number.
public func += (left: inout UpdatableColumn<Int64>, right: Int64) { left.change(" + ", right) }
/// Subtracts a number.
public func -= (left: inout UpdatableColumn<Int64>, right: Int64) { left.change(" - ", right) }
/// Multiplies by a number.
public func *= (left: inout UpdatableColumn<Int64>, right: Int64) { left.change(" * ", right) }
/// Divides by a number.
public func /= (left: inout UpdatableColumn<Int64>, right: Int64) { left.change(" / ", right) }

/// Adds a number.
public func += (left: inout UpdatableColumn<Int32>, right: Int32) { left.change(" + ", right) }
/// Subtracts a number.
public func -= (left: inout UpdatableColumn<Int32>, right: Int32) { left.change(" - ", right) }
/// Multiplies by a number.
public func *= (left: inout UpdatableColumn<Int32>, right: Int32) { left.change(" * ", right) }
/// Divides by a number.
public func /= (left: inout UpdatableColumn<Int32>, right: Int32) { left.change(" / ", right) }

/// Adds a number.
public func += (left: inout UpdatableColumn<Double>, right: Double) { left.change(" + ", right) }
/// Subtracts a number.
public func -= (left: inout UpdatableColumn<Double>, right: Double) { left.change(" - ", right) }
/// Multiplies by a number.
public func *= (left: inout UpdatableColumn<Double>, right: Double) { left.change(" * ", right) }
/// Divides by a number.
public func /= (left: inout UpdatableColumn<Double>, right: Double) { left.change(" / ", right) }

/// Adds a number.
public func += (left: inout UpdatableColumn<Float>, right: Float) { left.change(" + ", right) }
/// Subtracts a number.
public func -= (left: inout UpdatableColumn<Float>, right: Float) { left.change(" - ", right) }
/// Multiplies by a number.
public func *= (left: inout UpdatableColumn<Float>, right: Float) { left.change(" * ", right) }
/// Divides by a number.
public func /= (left: inout UpdatableColumn<Float>, right: Float) { left.change(" / ", right) }

/// Adds a text to the end.
public func += (left: inout UpdatableColumn<String>, right: String) { left.change(" || ", right) }

extension UpdatableColumn where QueryValue: QueryRepresentable {
  func change(_ symbol: StaticString, _ value: QueryValue.Output) {
    list.append(name, binary(symbol, bound(value)))
  }
}
