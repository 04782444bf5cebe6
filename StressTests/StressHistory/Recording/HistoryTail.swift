import Foundation
import Glibc

/// Looks at the histories' files while they grow, for the progress line: counts lines, and reads none.
package struct HistoryTail: Sendable {
  /// Operations that have ended, as far as was looked.
  package private(set) var ended = 0
  /// Violations that processes have noted.
  package private(set) var violations = 0
  /// Up to where each file has been read: whole lines only.
  private var offsets: [String: Int] = [:]

  /// Has seen nothing yet.
  package init() {}

  private static let endedLine = Array("[\"e\"".utf8)
  private static let violationLine = Array("[\"n\",\"violation\"".utf8)

  /// Counts what was written since the last look; files that are not there yet are passed over.
  package mutating func look(at files: [String]) {
    for file in files { look(at: file) }
  }

  private mutating func look(at file: String) {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var offset = offsets[file] ?? 0
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = buffer.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      if count <= 0 { break }
      let used = buffer.withUnsafeBytes {
        countLines(UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
      // Without a newline in all of it the line is longer than the buffer; it is no line of interest.
      offset += used == 0 && count == buffer.count ? count : used
      if used == 0 && count < buffer.count { break }
    }
    offsets[file] = offset
  }

  /// Returns how many bytes whole lines have.
  private mutating func countLines(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let base = bytes.baseAddress else { return 0 }
    var place = 0
    while let found = memchr(base + place, CInt(UInt8(ascii: "\n")), bytes.count - place) {
      let after = UnsafeRawPointer(found) - base + 1
      if Self.begins(base + place, after - place, Self.endedLine) { ended += 1 }
      if Self.begins(base + place, after - place, Self.violationLine) { violations += 1 }
      place = after
    }
    return place
  }

  private static func begins(_ line: UnsafeRawPointer, _ count: Int, _ start: [UInt8]) -> Bool {
    count >= start.count && memcmp(line, start, start.count) == 0
  }
}
