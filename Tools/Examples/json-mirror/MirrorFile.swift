import Foundation

/// The file of a mirror.
///
/// One JSON object a line, `{"key": […], "row": {…}}`, or `{"key": […], "row": null}` for a row that
/// is gone. The last line of a key counts.
///
/// A line is there when its line feed is: what a death leaves behind it is cut off at the next start.
struct MirrorFile {
  let path: String
  private var handle: FileHandle?
  private var lines = 0

  init(path: String) { self.path = path }

  /// Whether it should be written anew: it has grown far past the table.
  func isWasteful(rows: Int) -> Bool { lines > 1000 + 4 * rows }

  /// Opens the file if it is there, and cuts off an unfinished line.
  mutating func open() throws -> Bool {
    guard let handle = FileHandle(forUpdatingAtPath: path) else { return false }
    let bytes = try handle.readToEnd() ?? Data()
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    try handle.truncate(atOffset: UInt64(end))
    try handle.seekToEnd()
    lines = bytes.count { $0 == UInt8(ascii: "\n") }
    self.handle = handle
    return true
  }

  /// Adds lines; when this returns they are on the disk.
  mutating func append(_ new: [String]) throws {
    guard let handle, !new.isEmpty else { return }
    try handle.write(contentsOf: Data(new.map { $0 + "\n" }.joined().utf8))
    try handle.synchronize()
    lines += new.count
  }

  /// Puts a file with just these lines in the place of the old one, at once.
  mutating func replace(with all: [String]) throws {
    let temporary = path + ".new"
    guard FileManager.default.createFile(atPath: temporary, contents: nil),
      let fresh = FileHandle(forWritingAtPath: temporary)
    else { throw CocoaError(.fileWriteUnknown) }
    try fresh.write(contentsOf: Data(all.map { $0 + "\n" }.joined().utf8))
    try fresh.synchronize()
    guard rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    handle = fresh
    lines = all.count
  }
}
