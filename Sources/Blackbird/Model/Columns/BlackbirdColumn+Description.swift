// A column shows itself as its value, so that a printed model can be read.
extension BlackbirdColumn: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The value's description.
  public var description: String { String(describing: wrappedValue) }
  /// The value's description for debugging.
  public var debugDescription: String { String(reflecting: wrappedValue) }
  /// The value's mirror.
  public var customMirror: Mirror { Mirror(reflecting: wrappedValue) }
}
