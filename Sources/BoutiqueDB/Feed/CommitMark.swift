import SQLiteConnection
import Synchronization

/// The newest commit of anybody, as the memory that all connections share has it.
///
/// Equal marks say that nobody has committed in between, no program without this library either. Marks
/// have no order and mean nothing in another process or after the database was opened anew; what lasts is
/// a ``ChangeToken``.
public struct CommitMark: Hashable, Sendable {
  let mark: WALCommitMark

  init(_ mark: WALCommitMark) { self.mark = mark }
}

/// Reads the mark from any thread.
///
/// The lock is what keeps the memory in place: `close` takes the region away before the connection that
/// holds it is closed, and waits for whoever is reading.
final class CommitMarkReader: Sendable {
  private let region: Mutex<WALIndexRegion?>

  init(_ region: WALIndexRegion?) { self.region = Mutex(region) }

  var mark: CommitMark? { region.withLock { $0?.commitMark.map(CommitMark.init) } }

  func close() { region.withLock { $0 = nil } }
}

extension OpenDatabase {
  var commitMark: CommitMark? {
    guard (try? checkUsable()) != nil, (try? files?.checkDatabase()) != nil else { return nil }
    return markReader.mark
  }
}

extension BoutiqueDB {
  /// Tells the newest commit of any process and program; nil where that cannot be told.
  ///
  /// Neither waits nor runs a statement: it costs a look at the file's identity and at some numbers in shared
  /// memory, so it is for asking often whether what was read before is still so. A commit that has returned
  /// before the call, in whichever program, is in it. Nil in memory, for a database that was opened for
  /// reading only, once it is closed or its file replaced, and in the moment in which somebody commits: then
  /// read.
  ///
  /// ``read(since:atMost:_:)`` says which mark belongs to what it reads.
  public var commitMark: CommitMark? { core.commitMark }
}
