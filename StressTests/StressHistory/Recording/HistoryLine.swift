/// One line of a history's file, as a JSON array whose first element says what it is.
///
///     ["p",7]                                           the process, once, in front
///     ["b",number,client,"name",began,[steps]]          an operation begins
///     ["e",number,ended,"done",[steps] or null,"error" or null]   it ends; null: the steps are those of "b"
///     ["s","lockWait",time,value]                       a measurement
///     ["n","violation",time,"subject","text"]           a note
///     ["n","violation",time,"subject","text",since,[steps]]   a note of what was seen in between
///
/// A step is `["read","key",value]`; a value is null, a number, a text or a list of numbers. Written and read
/// by hand: in a debug build `JSONEncoder` takes longer for a line than the database for a transaction.
enum HistoryLine {
  static func process(_ process: Int) -> String { "[\"p\",\(process)]\n" }

  static func begin(_ operation: OperationRecord) -> String {
    var line = "[\"b\",\(operation.number),\(operation.client),"
    append(operation.name, to: &line)
    line += ",\(operation.began),"
    append(operation.steps, to: &line)
    line += "]\n"
    return line
  }

  static func end(_ operation: OperationRecord, hasNewSteps: Bool) -> String {
    var line = "[\"e\",\(operation.number),\(operation.ended ?? 0),\""
    line += operation.outcome.rawValue
    line += "\","
    if hasNewSteps { append(operation.steps, to: &line) } else { line += "null" }
    line += ","
    if let error = operation.error { append(error, to: &line) } else { line += "null" }
    line += "]\n"
    return line
  }

  static func sample(_ sample: Sample) -> String {
    "[\"s\",\"\(sample.kind.rawValue)\",\(sample.time),\(sample.value)]\n"
  }

  static func note(_ note: Note) -> String {
    var line = "[\"n\",\"\(note.kind.rawValue)\",\(note.time),"
    append(note.subject, to: &line)
    line += ","
    append(note.text, to: &line)
    if let since = note.since {
      line += ",\(since),"
      append(note.seen ?? [], to: &line)
    }
    line += "]\n"
    return line
  }

  private static func append(_ steps: [Step], to line: inout String) {
    line += "["
    var isFirst = true
    for step in steps {
      line += isFirst ? "[\"" : ",[\""
      isFirst = false
      line += step.kind.rawValue
      line += "\","
      append(step.key, to: &line)
      switch step.value {
      case .none: line += ",null]"
      case .integer(let value): line += ",\(value)]"
      case .text(let text):
        line += ","
        append(text, to: &line)
        line += "]"
      case .list(let values):
        line += ",["
        var comma = ""
        for value in values {
          line += comma
          line += value.description
          comma = ","
        }
        line += "]]"
      }
    }
    line += "]"
  }

  /// Appends a text in quotes; what JSON wants escaped is rare.
  private static func append(_ text: String, to line: inout String) {
    line += "\""
    if text.utf8.contains(where: {
      $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
    }) {
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\":
          line += "\\"
          line.unicodeScalars.append(scalar)
        case "\n": line += "\\n"
        case "\t": line += "\\t"
        case _ where scalar.value < 0x20: line += " "
        default: line.unicodeScalars.append(scalar)
        }
      }
    } else {
      line += text
    }
    line += "\""
  }
}
