internal import CSQLite
internal import Glibc

// Reading a database that others use, without leaving a trace.
//
// For: a program that looks at a database (`boutique-locks`) while every process that uses it may be
// stopped. It must not wait for a lock, take one, or write, make or remove a file.
//
// Invariants
//  1. Every file is opened for reading only and none is made: this file system turns the flags with
//     which SQLite would make a log into such ones, and refuses journals, temporary files and removal.
//  2. No lock is taken: it is the system's `unix-none`, whose locks do nothing.
//  3. No shared memory: with `locking_mode = EXCLUSIVE` set before the first look SQLite keeps the
//     log's index to itself and makes it from the log (SQLite, WAL-mode, "Use of WAL Without
//     Shared-Memory").
//  4. The path is absolute and taken as it is: whoever calls has resolved links where that is right.
//  5. The view can be torn: a checkpoint or a writer that starts the log anew goes on meanwhile. The
//     caller compares the log's and its index's heads before and after, and throws away what it read.

/// The file system of connections that only look.
enum LookingFileSystem {
  static let name = "boutique-look"

  /// Makes it known to SQLite, once in a process.
  static func register() -> Bool { isRegistered }

  private static let isRegistered: Bool = {
    guard let system = sqlite3_vfs_find("unix-none") else { return false }
    // SQLite keeps the address for good.
    let looking = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    looking.initialize(to: system.pointee)
    looking.pointee.pNext = nil
    looking.pointee.zName = UnsafePointer(strdup(name))
    looking.pointee.xOpen = { _, path, file, flags, outcome in
      let kind = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)
      guard kind != 0, let system = sqlite3_vfs_find("unix-none"), let open = system.pointee.xOpen
      else {
        file?.pointee.pMethods = nil
        return SQLITE_CANTOPEN
      }
      // As a log it would be given the database's owner (`unixOpen` calls fchown on every log), which
      // changes its time of change; so it is opened as if it were a database.
      return open(system, path, file, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY, outcome)
    }
    // The system's own would follow links in the path by their text, which is wrong for one that leads
    // through another process's root (`/proc/PID/root/…`): it could reach another database.
    looking.pointee.xFullPathname = { _, path, room, full in
      guard let path, let full, path.pointee == 0x2F, strlen(path) < Int(room) else {
        return SQLITE_CANTOPEN
      }
      strcpy(full, path)
      return SQLITE_OK
    }
    looking.pointee.xDelete = { _, _, _ in SQLITE_READONLY }
    return sqlite3_vfs_register(looking, 0) == SQLITE_OK
  }()

  /// The path as a URI, for the parameter that has no other way in.
  static func uri(path: String, ignoringLog: Bool) -> String {
    var text = "file:"
    // A path that begins with two slashes would be read as the name of a machine.
    if path.hasPrefix("/") { text += "//" }
    for byte in path.utf8 {
      let isPlain =
        byte == 0x2F || byte == 0x2D || byte == 0x2E || (0x30...0x39).contains(byte)
        || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
      if isPlain {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text + (ignoringLog ? "?immutable=1" : "")
  }
}
