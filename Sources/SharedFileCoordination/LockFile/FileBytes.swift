import Glibc

/// Whole reads and writes at an offset.
enum FileBytes {
  /// Fills an image from the file.
  ///
  /// - Returns: False when the file is too short or cannot be read.
  static func read(
    _ image: inout ByteImage, from descriptor: GuardedDescriptor, at offset: Int
  ) -> Bool {
    image.bytes.withUnsafeMutableBytes { raw in
      var done = 0
      while done < raw.count, let start = raw.baseAddress {
        let count = pread(
          descriptor.number, start + done, raw.count - done, off_t(offset + done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }

  /// Writes an image to the file.
  static func write(
    _ image: ByteImage, to descriptor: GuardedDescriptor, at offset: Int, path: String
  ) throws(CoordinationError) {
    let code: Int32 = image.bytes.withUnsafeBytes { raw in
      var done = 0
      while done < raw.count, let start = raw.baseAddress {
        let count = pwrite(
          descriptor.number, start + done, raw.count - done, off_t(offset + done))
        if count < 0 {
          if errno == EINTR { continue }
          return errno
        }
        // A regular file takes nothing only when it has no room.
        if count == 0 { return ENOSPC }
        done += count
      }
      return 0
    }
    if code != 0 { throw .system(call: "pwrite", code: code, path: path) }
  }
}
