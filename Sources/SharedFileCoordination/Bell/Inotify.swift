// The unsafe calls: libinotifytools, as its one thread uses it.
//
// What it takes to use this library safely (version 3.22.6, read and measured):
//  1. Its state is one per process and unguarded: one thread calls everything here but `wake`.
//  2. It waits with select(2), and the C library aborts the program when a descriptor of 1024 or
//     more is put into a set. The library opens the descriptor itself and does not show it; so the
//     next free number is looked at before, with room for others who open files meanwhile, and all
//     numbers of that kind after, since others may open more than there was room for.
//  3. It waits whole seconds, or for ever for 0 and less, and on nothing else. A waiting thread is
//     woken through a watched file in memory, whose time stamp is touched. (Writing would not do:
//     since Linux 6.14 files without a name raise no event for reads and writes.)
//  4. Removing a watch that the kernel has dropped by itself prints to stderr, and a name that is
//     watched again keeps its old number in the library's tables. So watches are never removed and
//     never renewed: when one has to go, everything is stopped and started again.
//  5. What it has read and not yet handed out survives a stop. So before a stop everything up to a
//     mark is read (the wake-up file is cut, which raises another event than waking). What still
//     slips through is taken for an event of a new watch: a false alarm, which costs one look.

import CInotifyTools
import CLinuxShims
import Glibc
import Synchronization

/// One kernel event.
package struct InotifyEvent: Sendable, Equatable {
  package var watch: Int32
  package var mask: UInt32
  /// Name inside a watched directory, else empty.
  package var name: String

  package init(watch: Int32, mask: UInt32, name: String = "") {
    self.watch = watch
    self.mask = mask
    self.name = name
  }

  /// The event that says that events were lost.
  package static let overflow = InotifyEvent(watch: -1, mask: UInt32(IN_Q_OVERFLOW))

  var isOverflow: Bool { watch < 0 || mask & UInt32(IN_Q_OVERFLOW) != 0 }

  /// Whether the watch itself has ended or its file has gone elsewhere.
  var endsWatch: Bool {
    mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0
  }
}

/// What became of a request for a watch.
package enum InotifyWatch: Sendable, Equatable {
  case watching(Int32)
  /// There is no such file at present.
  case missing
  case refused(reason: String)
}

/// The calls that the bell's watcher makes; a struct of functions so that tests can play the kernel.
package struct InotifyCalls: Sendable {
  /// Starts; returns why not, or nil.
  package var start: @Sendable () -> String?
  package var stop: @Sendable () -> Void
  package var watch: @Sendable (_ path: String, _ mask: UInt32) -> InotifyWatch
  /// Waits so many seconds (negative: for ever) for an event; nil when none came or on a wake-up.
  package var next: @Sendable (_ seconds: Int) -> InotifyEvent?
  /// Makes `next` return.
  ///
  /// From any thread.
  package var wake: @Sendable () -> Void

  package init(
    start: @escaping @Sendable () -> String?, stop: @escaping @Sendable () -> Void,
    watch: @escaping @Sendable (String, UInt32) -> InotifyWatch,
    next: @escaping @Sendable (Int) -> InotifyEvent?, wake: @escaping @Sendable () -> Void
  ) {
    self.start = start
    self.stop = stop
    self.watch = watch
    self.next = next
    self.wake = wake
  }

  /// The real ones.
  package static let library = library(highestDescriptor: InotifyLibrary.highestDescriptor)

  /// The real ones, which do not start when the next free descriptor is of that number or more.
  package static func library(highestDescriptor: Int32) -> InotifyCalls {
    InotifyCalls(
      start: { InotifyLibrary.start(highestDescriptor: highestDescriptor) },
      stop: { InotifyLibrary.stop() }, watch: { InotifyLibrary.watch($0, $1) },
      next: { InotifyLibrary.next($0) }, wake: { InotifyLibrary.wake() })
  }
}

enum InotifyLibrary {
  /// select(2) holds 1024; the rest is room for what other threads open between look and start.
  static let highestDescriptor: Int32 = 960
  private static let selectLimit: Int32 = 1024

  /// The file in memory whose time stamp wakes the waiting thread; changed by start and stop.
  private static let wakeFile = Mutex<(file: GuardedDescriptor, watch: Int32)?>(nil)

  private static let noRoom =
    "the program has so many files open that the descriptors below 1024 are used up"

  static func start(highestDescriptor: Int32) -> String? {
    let free = clx_next_descriptor()
    guard free >= 0 else {
      return "no descriptor is free (\(CoordinationError.text(ofErrno: -free)))"
    }
    guard free < highestDescriptor else { return noRoom }
    let number = clx_guarded_memfd("boutique-wake")
    guard number >= 0 else {
      return "no file in memory to be had (\(CoordinationError.text(ofErrno: -number)))"
    }
    let file = GuardedDescriptor(adopting: number, holdsLocks: false)
    let tooHigh = highDescriptors()
    guard inotifytools_initialize() != 0 else {
      return explain(inotifytools_error())
    }
    // Before anything is waited for. A high one of somebody else that came just now is a false alarm,
    // which costs polling until the next try.
    guard highDescriptors().isSubset(of: tooHigh) else {
      inotifytools_cleanup()
      return noRoom
    }
    let watch: Int32
    switch Self.watch("/proc/self/fd/\(number)", UInt32(IN_ATTRIB | IN_MODIFY)) {
    case .watching(let number): watch = number
    case .refused(let reason):
      inotifytools_cleanup()
      return "the wake-up file cannot be watched: \(reason)"
    case .missing:
      inotifytools_cleanup()
      return "the wake-up file cannot be watched"
    }
    wakeFile.withLock { $0 = (file, watch) }
    // A thread that cannot be woken could not be asked to stop: try it once.
    wake()
    while let event = inotifytools_next_event(1) {
      if event.pointee.wd == watch { return nil }
    }
    stop()
    return "the wake-up file raises no events"
  }

  /// The inotify descriptors of this process that select(2) cannot take.
  private static func highDescriptors() -> Set<Int32> {
    guard let directory = opendir("/proc/self/fd") else { return [] }
    defer { closedir(directory) }
    var found: Set<Int32> = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let number = Int32(name), number >= selectLimit else { continue }
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/self/fd/\(name)", &target, target.count - 1)
      let text = String(
        decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasSuffix("inotify") { found.insert(number) }
    }
    return found
  }

  static func stop() {
    if let (file, watch) = wakeFile.withLock({ $0 }), ftruncate(file.number, 0) == 0 {
      while let event = inotifytools_next_event(1) {
        if event.pointee.wd == watch, event.pointee.mask & UInt32(IN_MODIFY) != 0 { break }
      }
    }
    wakeFile.withLock { $0 = nil }
    inotifytools_cleanup()
  }

  static func wake() {
    let file = wakeFile.withLock { $0?.file }
    if let file { _ = clx_touch(file.number) }
  }

  static func watch(_ path: String, _ mask: UInt32) -> InotifyWatch {
    guard inotifytools_watch_file(path, Int32(bitPattern: mask)) != 0 else {
      let code = inotifytools_error()
      return code == ENOENT ? .missing : .refused(reason: explain(code))
    }
    let watch = inotifytools_wd_from_filename(path)
    return watch > 0 ? .watching(watch) : .missing
  }

  static func next(_ seconds: Int) -> InotifyEvent? {
    guard let event = inotifytools_next_event(seconds) else {
      // An error would come back at once and for ever; give the machine some air.
      if inotifytools_error() != 0 { _ = clx_wait(-1, -1, 100_000_000) }
      return nil
    }
    let watch = event.pointee.wd
    if wakeFile.withLock({ $0?.watch == watch }) { return nil }
    return InotifyEvent(watch: watch, mask: event.pointee.mask, name: name(of: event))
  }

  /// The name follows the event's fixed part, padded with zero bytes (inotify(7)).
  private static func name(of event: UnsafeMutablePointer<inotify_event>) -> String {
    let count = Int(event.pointee.len)
    guard count > 0 else { return "" }
    let raw = UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size
    let bytes = UnsafeRawBufferPointer(start: raw, count: count)
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The kernel's codes for its limits sound like other things.
  private static func explain(_ code: Int32) -> String {
    switch code {
    case ENOSPC:
      "the user's limit of inotify watches is reached (fs.inotify.max_user_watches)"
    case EMFILE:
      "the limit of inotify instances or of open files is reached "
        + "(fs.inotify.max_user_instances, ulimit -n)"
    default:
      CoordinationError.text(ofErrno: code)
    }
  }
}
