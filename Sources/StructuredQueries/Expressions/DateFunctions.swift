public import Foundation

/// A way to keep dates that SQLite's date functions can be told about.
public protocol DateRepresentation: QueryRepresentable where Output == Date {
  /// Returns the arguments that make a date function read a stored value.
  static func dateArguments(of value: SQLFragment) -> SQLFragment
}

extension Date: DateRepresentation {
  /// Seconds since 1970.
  public static func dateArguments(of value: SQLFragment) -> SQLFragment { "\(value), 'unixepoch'" }
}

extension Date.UnixTimeRepresentation: DateRepresentation {
  /// Seconds since 1970.
  public static func dateArguments(of value: SQLFragment) -> SQLFragment { "\(value), 'unixepoch'" }
}

extension Date.UnixMillisecondsRepresentation: DateRepresentation {
  /// Milliseconds since 1970.
  public static func dateArguments(of value: SQLFragment) -> SQLFragment {
    "\(value) / 1000.0, 'unixepoch'"
  }
}

extension Date.JulianDayRepresentation: DateRepresentation {
  /// A number without a modifier is a Julian day.
  public static func dateArguments(of value: SQLFragment) -> SQLFragment { value }
}

extension Date.ISO8601Representation: DateRepresentation {
  /// SQLite reads the text as it is.
  public static func dateArguments(of value: SQLFragment) -> SQLFragment { value }
}

extension QueryExpression
where QueryValue: QueryRepresentable, QueryValue.Unwrapped: DateRepresentation {
  /// `date`: `YYYY-MM-DD` in UTC, or as modifiers say (`"localtime"`, `"start of month"`).
  public func date(_ modifiers: String...) -> SQLQueryExpression<String?> {
    dateFunction("date(", modifiers)
  }
  /// `time`: `HH:MM:SS`.
  public func time(_ modifiers: String...) -> SQLQueryExpression<String?> {
    dateFunction("time(", modifiers)
  }
  /// `datetime`: `YYYY-MM-DD HH:MM:SS`.
  public func datetime(_ modifiers: String...) -> SQLQueryExpression<String?> {
    dateFunction("datetime(", modifiers)
  }
  /// `julianday`.
  public func julianday(_ modifiers: String...) -> SQLQueryExpression<Double?> {
    dateFunction("julianday(", modifiers)
  }
  /// `unixepoch`: whole seconds since 1970.
  public func unixepoch(_ modifiers: String...) -> SQLQueryExpression<Int?> {
    dateFunction("unixepoch(", modifiers)
  }
  /// `strftime`: the date by a format (`"%Y-%W"`).
  public func strftime(_ format: String, _ modifiers: String...) -> SQLQueryExpression<String?> {
    dateFunction("strftime(\(format), ", modifiers)
  }

  private func dateFunction<Value>(
    _ start: SQLFragment, _ modifiers: [String]
  ) -> SQLQueryExpression<Value> {
    var fragment = start
    fragment.append(QueryValue.Unwrapped.dateArguments(of: queryFragment))
    for modifier in modifiers { fragment.append(", \(modifier)") }
    fragment.append(sql: ")")
    return SQLQueryExpression(fragment: fragment)
  }
}
