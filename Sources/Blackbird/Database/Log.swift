import Foundation
import Synchronization

extension Blackbird {
  /// Is told what the debugging options of databases ask for.
  public typealias LogHandler = @Sendable (_ message: String) -> Void

  /// Says who is told what the debugging options of databases ask for, in this process.
  ///
  /// - Parameter handler: called on any thread, must return soon; nil for standard error.
  public static func setLogHandler(_ handler: LogHandler?) {
    logHandler.withLock { $0 = handler }
  }

  private static let logHandler = Mutex<LogHandler?>(nil)

  static func log(_ message: String) {
    if let handler = logHandler.withLock({ $0 }) { return handler(message) }
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}

extension Blackbird.Database {
  enum LoggedValues {
    case list([Blackbird.Value])
    case dictionary([String: Blackbird.Value])
  }

  /// Tells the log of a statement, where the options say so.
  func log(_ query: String, _ values: @autoclosure () -> LoggedValues) {
    guard options.contains(.debugPrintEveryQuery) else { return }
    let text =
      options.contains(.debugPrintQueryParameterValues)
      ? LoggedStatement.text(query, values()) : query
    Blackbird.log("[Blackbird.Database] \(text)")
  }
}

/// Shows a statement with its values; for reading, never to be run.
enum LoggedStatement {
  static func text(_ query: String, _ values: Blackbird.Database.LoggedValues) -> String {
    switch values {
    case .list(let values):
      var text = ""
      var rest = values[...]
      for character in query {
        if character == "?", let value = rest.popFirst() {
          text += value.sqliteLiteral()
        } else {
          text.append(character)
        }
      }
      return text
    case .dictionary(let values):
      guard !values.isEmpty else { return query }
      let shown = values.sorted { $0.key < $1.key }.map { "\($0) = \($1.sqliteLiteral())" }
      return "\(query) [\(shown.joined(separator: ", "))]"
    }
  }
}
