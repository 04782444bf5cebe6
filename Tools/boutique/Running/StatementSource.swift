import CommandLineSupport
import Foundation
import Glibc

/// Where a command's SQL comes from: the command line, a file, or standard input.
enum StatementSource {
  /// Returns the SQL, and the words that are left as arguments.
  ///
  /// Without a file the first word is the SQL; `-`, as word or as file, and no word at all stand for
  /// standard input.
  static func read(
    words: ArraySlice<String>, file: String?
  ) throws -> (sql: String, arguments: [String]) {
    if let file, file != "-" {
      return (try contents(of: ByteInput.open(path: file), name: file), Array(words))
    }
    if file == nil, let text = words.first, text != "-" {
      return (try refusingEmpty(text, name: "the SQL"), Array(words.dropFirst()))
    }
    let input = ByteInput(fileDescriptor: STDIN_FILENO, closes: false)
    let arguments = file == nil ? words.dropFirst() : words
    return (try contents(of: input, name: "standard input"), Array(arguments))
  }

  private static func contents(
    of input: @autoclosure () throws(MalformedInput) -> ByteInput, name: String
  ) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try input().remainingBytes()
    } catch {
      throw CommandFailure("\(name): \(error.reason)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure("\(name): \(MalformedInput.Reason.invalidUTF8)")
    }
    return try refusingEmpty(text, name: name)
  }

  private static func refusingEmpty(_ sql: String, name: String) throws -> String {
    if sql.allSatisfy(\.isWhitespace) { throw CommandFailure("\(name) is empty") }
    return sql
  }
}
