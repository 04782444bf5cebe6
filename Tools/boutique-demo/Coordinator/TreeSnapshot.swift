/// The files of the tree as they were at one walk.
struct TreeSnapshot: Sendable {
  var files: [FilePath: FileState] = [:]
  var unreadableDirectories = 0
  var otherFileSystems = 0
  /// Nanoseconds since 1970 when the walk began.
  var time: Int64 = 0

  /// What the walk left out, for people; empty when nothing.
  var omissions: String {
    var parts: [String] = []
    if unreadableDirectories > 0 {
      parts.append("unlistable directories: \(Figures.count(unreadableDirectories))")
    }
    if otherFileSystems > 0 {
      parts.append("other file systems, not entered: \(Figures.count(otherFileSystems))")
    }
    return parts.isEmpty ? "" : " (" + parts.joined(separator: "; ") + ")"
  }

  /// Walks the working directory.
  static func take(excluding prefix: [UInt8]?) throws -> TreeSnapshot {
    var snapshot = TreeSnapshot()
    snapshot.time = Clock.wall()
    var walk = try TreeWalk(excluding: prefix)
    while let path = walk.next() {
      if let state = FileState(CPath.text(path.bytes)) { snapshot.files[path] = state }
    }
    snapshot.unreadableDirectories = walk.unreadableDirectories
    snapshot.otherFileSystems = walk.otherFileSystems
    return snapshot
  }
}
