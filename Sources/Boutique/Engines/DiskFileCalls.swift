import BoutiqueDB
import Foundation
import Glibc

/// The system calls of a ``DiskStorageEngine``, with errors that say what they happened to.
enum DiskFileCalls {
  /// Returns what `errno` says happened to a path.
  static func failure(_ call: String, _ path: String, _ code: CInt = errno) -> BoutiqueError {
    let message = "\(call): \(String(cString: strerror(code)))"
    return switch code {
    case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path, message: message)
    case EACCES, EPERM: .permissionDenied(path: path, message: message)
    case EROFS: .readOnly(path: path, message: message)
    case ENOTDIR, ENAMETOOLONG, EISDIR, ELOOP: .invalidPath(path: path, message: message)
    default: .inputOutput(path: path, message: message)
    }
  }

  /// Opens a file, never through a symbolic link.
  static func open(_ path: String, _ flags: CInt, mode: mode_t = 0o600) throws -> CInt {
    while true {
      let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
      if descriptor >= 0 { return descriptor }
      guard errno == EINTR else { throw failure("open", path) }
    }
  }

  /// Returns a file, or as much of its beginning; nil when it is not there.
  static func contents(of path: String, limit: Int = .max) throws -> Data? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("open", path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError.unusableFile(path: path, message: "it is no regular file")
    }
    var data = Data(count: min(Int(status.st_size), limit))
    var filled = 0
    while filled < data.count {
      let count = data.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, bytes.baseAddress?.advanced(by: filled), bytes.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read", path) }
      guard count > 0 else { throw failure("read", path, EIO) }
      filled += count
    }
    return data
  }

  /// Makes a file with these contents; when it returns, they are on the disk.
  static func create(_ path: String, _ parts: [Data]) throws {
    let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL)
    do {
      defer { close(descriptor) }
      for part in parts {
        var written = 0
        while written < part.count {
          let count = part.withUnsafeBytes { bytes in
            Glibc.write(
              descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
          }
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw failure("write", path) }
          written += count
        }
      }
      guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Gives a file another name, in the place of what has it.
  ///
  /// - Parameter mayBeMissing: whether it is well if there is no such file.
  static func move(_ path: String, to target: String, mayBeMissing: Bool = false) throws {
    guard rename(path, target) == 0 || mayBeMissing && errno == ENOENT else {
      throw failure("rename", target)
    }
  }

  /// Removes a file, if it is there.
  static func remove(_ path: String) throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
  }

  /// Puts the names of a directory on the disk.
  static func syncDirectory(_ path: String) throws {
    let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    guard !DiskFileTesting.fails(path) else { throw failure("fsync", path, EIO) }
    guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
  }

  /// Returns the names in a directory, without those of the engine's own files.
  static func names(in path: String) throws -> [String] {
    guard let directory = opendir(path) else { throw failure("opendir", path) }
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        guard errno == 0 else { throw failure("readdir", path) }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
  }
}
