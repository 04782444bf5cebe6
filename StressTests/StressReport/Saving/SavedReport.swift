package import Foundation

/// The file that `run --json` writes, and that `report` and `replay` read.
package struct SavedReport: Codable, Sendable {
  /// What the file says it is.
  package static let currentFormat = "boutique-stress report 1"

  /// The name of the file in the directory of a run that is kept.
  package static let fileName = "report.json"

  package var format = currentFormat
  /// When the first run began, in UTC by RFC 3339.
  package var date: String
  package var machine: MachineFacts
  package var runs: [SavedRun]

  /// Describes runs on a machine.
  package init(date: Date, machine: MachineFacts, runs: [SavedRun]) {
    self.date = date.formatted(.iso8601)
    self.machine = machine
    self.runs = runs
  }

  /// How many promises were broken.
  package var violationCount: Int { runs.reduce(0) { $0 + $1.violations.count } }

  /// Reads a file.
  package static func read(_ path: String) throws(ReportFileError) -> SavedReport {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw .unreadable(path, reason: FileProblem.text(error))
    }
    guard let head = try? JSONDecoder().decode(Head.self, from: data) else {
      throw .notAReport(path)
    }
    guard head.format == currentFormat else { throw .otherFormat(path, head.format) }
    do {
      return try JSONDecoder().decode(SavedReport.self, from: data)
    } catch {
      throw .damaged(path, reason: FileProblem.text(error))
    }
  }

  /// Writes a file; one that is there is replaced as a whole.
  package func write(_ path: String) throws(ReportFileError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if runs.count == 1 { encoder.outputFormatting.insert(.prettyPrinted) }
    do {
      try encoder.encode(self).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw .unwritable(path, reason: FileProblem.text(error))
    }
  }

  private struct Head: Decodable {
    let format: String
  }
}

/// Why a report's file is of no use.
package enum ReportFileError: Error, Equatable, CustomStringConvertible {
  case unreadable(String, reason: String)
  case unwritable(String, reason: String)
  /// It is JSON of another kind, or none.
  case notAReport(String)
  /// It was written by another version.
  case otherFormat(String, String)
  case damaged(String, reason: String)

  package var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
    case .unwritable(let path, let reason): "cannot write \(path): \(reason)"
    case .notAReport(let path):
      "\(path) is no report of boutique-stress; “run --json FILE” writes one"
    case .otherFormat(let path, let format):
      "\(path) says that it is “\(format)”; this program reads “\(SavedReport.currentFormat)”"
    case .damaged(let path, let reason): "\(path) is damaged: \(reason)"
    }
  }
}
