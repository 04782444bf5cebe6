import CFaultVFS
import Foundation
import Glibc
import StressHistory

/// The power cut's part beside the databases: the index of the log, and the lock file.
///
/// The database and its log are `power.c`'s matter. The index is not synced and not needed: whoever opens the
/// database first makes it anew, whatever is there. The lock file is not synced either, so after the cut it is
/// as it was at some earlier moment, as far as its pages had been written back; or it is empty or gone.
struct PowerCut {
  private let lockFile: String
  private let index: String
  private let shadow: String
  /// The lock file at former moments.
  private var formerLockFiles: [Data] = []

  init(database: String, control: String) {
    lockFile = database + "-lock"
    index = database + "-shm"
    shadow = FaultControl.shadowDirectory(of: control)
  }

  /// Takes the lock file as it is for one of the states that the disk may have.
  mutating func noteLockFile() {
    guard let bytes = FileManager.default.contents(atPath: lockFile) else { return }
    formerLockFiles.append(bytes)
    if formerLockFiles.count > 8 { formerLockFiles.removeFirst() }
  }

  /// Cuts the power; returns what was lost, in words.
  mutating func strike(seed: UInt64) throws -> String {
    var text = [CChar](repeating: 0, count: 4096)
    let code = fault_power_cut(shadow, seed, &text, CInt(text.count))
    guard code == 0 else {
      throw FaultError(call: "cutting the power of", path: shadow, code: code)
    }
    var random = SeededRandom(seed: seed, purpose: "power cut")
    var words = [
      String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    ]
    words.append("lock file " + strikeLockFile(&random))
    words.append("index " + strikeIndex(&random))
    formerLockFiles = []
    return words.filter { !$0.isEmpty }.joined(separator: "; ")
  }

  private func strikeLockFile(_ random: inout SeededRandom) -> String {
    switch random.int(0...5) {
    case 0, 1:
      return "kept"
    case 2:
      unlink(lockFile)
      return "gone"
    case 3:
      truncate(lockFile, 0)
      return "empty"
    case 4:
      guard let former = formerLockFiles.randomElement(using: &random) else { return "kept" }
      write { _, page in page.lowerBound < former.count ? former : nil }
      return "as it was before"
    default:
      // Each page is as it was, as it is, or has never been written.
      let former = formerLockFiles.randomElement(using: &random)
      write { size, _ in
        switch random.int(0...2) {
        case 0: nil
        case 1: former
        default: Data(count: size)
        }
      }
      return "mixed of pages"
    }
  }

  /// Writes pages over the lock file; `source` gives the content of which the page is taken.
  private func write(_ source: (_ size: Int, _ page: Range<Int>) -> Data?) {
    guard var bytes = FileManager.default.contents(atPath: lockFile) else { return }
    let pageSize = 4096
    for start in stride(from: 0, to: bytes.count, by: pageSize) {
      let page = start..<min(start + pageSize, bytes.count)
      guard let source = source(bytes.count, page), source.count >= page.upperBound else {
        continue
      }
      bytes.replaceSubrange(page, with: source[page])
    }
    // Into the same file: a power cut makes no new ones.
    guard let file = FileHandle(forWritingAtPath: lockFile) else { return }
    try? file.write(contentsOf: bytes)
    try? file.close()
  }

  private func strikeIndex(_ random: inout SeededRandom) -> String {
    guard access(index, F_OK) == 0 else { return "" }
    switch random.int(0...2) {
    case 0:
      return "kept"
    case 1:
      let size = (try? FileManager.default.attributesOfItem(atPath: index)[.size] as? Int) ?? nil
      let rubbish = (0..<min(size ?? 0, 65_536)).map { _ in UInt8(truncatingIfNeeded: random.next())
      }
      if let file = FileHandle(forWritingAtPath: index) {
        try? file.write(contentsOf: Data(rubbish))
        try? file.close()
      }
      return "rubbish"
    default:
      unlink(index)
      return "gone"
    }
  }
}
