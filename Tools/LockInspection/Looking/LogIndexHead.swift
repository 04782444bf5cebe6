import SharedFileCoordination

/// The heads of the log and of its index, as the files have them (SQLite, WAL-mode file format, 2.1 and
/// 4.1).
struct LogIndexHead: Equatable {
  /// Committed frames.
  var frameCount: UInt32
  /// Frames that a checkpoint has copied.
  var checkpointed: UInt32
  /// Frames that a checkpoint has begun to copy.
  var attempted: UInt32
  var pageBytes: Int
  /// Of the log that the index speaks of; another log has others.
  var salts: [UInt8]
  /// Up to which frame the readers of each mark look; nil for a mark out of use.
  var readMarks: [UInt32?]

  static let size = 136

  /// Reads the head of an index; nil when it is missing, torn or was never filled in.
  static func read(path: String) -> LogIndexHead? {
    // A writer may be between the two copies; it needs no lock of ours to get done.
    for _ in 0..<4 {
      guard let bytes = FileLook.head(path: path, count: size), bytes.count == size else {
        return nil
      }
      if let head = LogIndexHead(bytes) { return head }
    }
    return nil
  }

  init?(_ bytes: [UInt8]) {
    // The index is in the machine's own byte order; every machine that Swift runs on under Linux is
    // little-endian.
    let image = ByteImage(bytes)
    guard bytes.count >= Self.size, bytes[0..<48] == bytes[48..<96],
      image.number(at: 0, as: UInt32.self) == 3_007_000, bytes[12] != 0
    else { return nil }
    frameCount = image.number(at: 16, as: UInt32.self)
    checkpointed = image.number(at: 96, as: UInt32.self)
    attempted = image.number(at: 128, as: UInt32.self)
    let size = Int(image.number(at: 14, as: UInt16.self))
    pageBytes = size == 1 ? 65_536 : size
    salts = Array(bytes[32..<40])
    readMarks = (0..<5).map { mark in
      let frame = image.number(at: 100 + 4 * mark, as: UInt32.self)
      return frame == .max ? nil : frame
    }
  }

  /// Returns the salts in the head of a log; nil when it has none.
  static func salts(ofLog path: String) -> [UInt8]? {
    guard let bytes = FileLook.head(path: path, count: 32), bytes.count == 32 else { return nil }
    return Array(bytes[16..<24])
  }
}
