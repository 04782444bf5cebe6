import Glibc

/// Functions of the C library that Swift's Glibc module does not offer, found by name.
///
/// They are hidden behind `_GNU_SOURCE`, or variadic with integer arguments only, which Linux's
/// calling conventions pass like fixed ones.
enum ForeignSymbols {
  /// Makes a pipe with flags: both ends close-on-exec from their first moment.
  static func pipe(_ flags: CInt) -> (read: CInt, write: CInt)? {
    typealias Pipe2 = @convention(c) (UnsafeMutablePointer<CInt>, CInt) -> CInt
    guard let address = dlsym(nil, "pipe2") else {
      errno = ENOSYS
      return nil
    }
    var ends: [CInt] = [-1, -1]
    guard unsafeBitCast(address, to: Pipe2.self)(&ends, flags) == 0 else { return nil }
    return (ends[0], ends[1])
  }

  /// Lets the child start without the descriptors from this one on, where the C library can.
  static func closeFrom(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: CInt
  ) {
    typealias CloseFrom =
      @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
    guard let address = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = unsafeBitCast(address, to: CloseFrom.self)(actions, first)
  }

  /// Asks for a signal when the thread that made this process ends (prctl(2), PR_SET_PDEATHSIG).
  static func setParentDeathSignal(_ signal: CInt) {
    typealias Prctl =
      @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    guard let address = dlsym(nil, "prctl") else { return }
    let option: CInt = 1
    _ = unsafeBitCast(address, to: Prctl.self)(option, CUnsignedLong(signal), 0, 0, 0)
  }
}
