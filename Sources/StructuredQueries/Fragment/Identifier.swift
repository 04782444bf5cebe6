/// Returns a name as a quoted SQL identifier.
///
/// Double quotes inside are doubled (SQLite, "SQL Keywords"), so any name is safe, keywords and
/// quotes included.
package func quoted(identifier name: String) -> String {
  "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
    + "\""
}
