import Foundation

/// A page of the documentation, and tests that hold its code.
///
/// A block of a page has a name in the line above it, `<!-- snippet: name -->`; the same code stands in a
/// test between the lines `// BEGIN name` and `// END name`.
enum DocumentedText {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the Swift blocks of a page by their names, and those that have none.
  static func blocks(of page: String) throws -> (named: [String: String], nameless: [String]) {
    let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
    var named: [String: String] = [:]
    var nameless: [String] = []
    let parts = text.components(separatedBy: "```")
    for index in stride(from: 1, to: parts.count, by: 2) where parts[index].hasPrefix("swift\n") {
      let code = String(parts[index].dropFirst("swift\n".count))
      let above = parts[index - 1].split(separator: "\n").last.map { String($0) } ?? ""
      let prefix = "<!-- snippet: "
      if above.hasPrefix(prefix), above.hasSuffix(" -->") {
        named[String(above.dropFirst(prefix.count).dropLast(4))] = code
      } else {
        nameless.append(code)
      }
    }
    return (named, nameless)
  }

  /// Returns what stands between the marks of a source file, by name.
  static func regions(of file: String) throws -> [String: String] {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    var regions: [String: String] = [:]
    var name: String?
    for line in text.components(separatedBy: "\n") {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if trimmed.hasPrefix("// BEGIN ") {
        name = String(trimmed.dropFirst("// BEGIN ".count))
      } else if trimmed.hasPrefix("// END ") {
        name = nil
      } else if let name {
        regions[name, default: ""] += line + "\n"
      }
    }
    return regions
  }

  /// Returns the lines of code without indentation, comments at their ends, and empty lines.
  static func lines(_ code: String) -> [String] {
    code.components(separatedBy: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces).components(separatedBy: "  //")[0] }
      .filter { !$0.isEmpty }
  }
}
