import Glibc
import ProcessHarness

/// What a worker changes about its own process before it does anything else.
struct Surroundings {
  struct Failure: Error {
    let call: String
    let code: CInt
  }

  /// `--user N`: become this user and group and no other.
  private var user: uid_t?
  /// `--file-size-limit N`: no file of this process may grow past N bytes.
  ///
  /// The signal that comes with the limit is ignored, so that a write fails instead, as it does on a
  /// full disk.
  private var fileSizeLimit: rlim_t?
  /// `--umask N`, octal.
  private var mask: mode_t?

  init(arguments: [String]) throws {
    var arguments = arguments[...]
    while let option = arguments.popFirst() {
      guard let value = arguments.popFirst() else { throw Failure(call: option, code: EINVAL) }
      switch option {
      case "--user": user = uid_t(value)
      case "--file-size-limit": fileSizeLimit = rlim_t(value)
      case "--umask": mask = mode_t(value, radix: 8)
      default: throw Failure(call: option, code: EINVAL)
      }
    }
  }

  func take() throws {
    if let mask { umask(mask) }
    if let fileSizeLimit { try limitFileSize(fileSizeLimit) }
    if let user {
      guard setgroups(0, nil) == 0 else { throw Failure(call: "setgroups", code: errno) }
      guard setgid(user) == 0 else { throw Failure(call: "setgid", code: errno) }
      guard setuid(user) == 0 else { throw Failure(call: "setuid", code: errno) }
      // The change of user cleared the wish.
      dieWithHarness()
    }
  }
}

/// Sets the bound past which no file of this process may grow; without one, lifts it.
func limitFileSize(_ bytes: rlim_t?) throws {
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  // The hard limit stays, so that the soft one can be lifted again by any user.
  limit.rlim_cur = bytes ?? limit.rlim_max
  guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
    throw Surroundings.Failure(call: "setrlimit", code: errno)
  }
}
