import Glibc

/// Whole small files of `/proc` and `/sys`, read in one go.
package enum SystemFile {
  /// Returns the content of a file, or nil when it cannot be read.
  package static func bytes(path: String, limit: Int = 1 << 22) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while content.count < limit {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0 {
        if errno == EINTR { continue }
        return nil
      }
      if count == 0 { break }
      content.append(contentsOf: chunk[0..<count])
    }
    return content
  }

  /// Returns the content of a file as text, or nil when it cannot be read.
  package static func text(path: String) -> String? {
    bytes(path: path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the names in a directory, without the two dot names; empty when it cannot be read.
  package static func names(inDirectory path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
