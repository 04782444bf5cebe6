import CFaultVFS
import FaultPoints
import Glibc

/// What a worker process does so that faults can reach it.
package enum FaultWorker {
  /// Makes the failing file system the default one and listens to the run's control file.
  ///
  /// Call it once, before the first database is opened.
  ///
  /// - Parameters:
  ///   - control: the control file's path.
  ///   - place: the process's place in the run.
  package static func install(control path: String, place: Int) throws {
    try install(control: path, place: place, isDefault: true)
  }

  static func install(control path: String, place: Int, isDefault: Bool) throws {
    let control = try FaultControl(path: path)
    // A write beyond the limit of a file's size is an error then, and not the end (setrlimit(2)).
    signal(SIGXFSZ, SIG_IGN)
    let code = fault_process_install(
      control.pointer, FaultControl.Slot.place(place).index,
      FaultControl.shadowDirectory(of: path), isDefault ? 1 : 0)
    guard code == 0 else { throw FaultError(call: "installing", path: path, code: EIO) }
    // Mapped as long as the process lives: the file system and the clock look at it at any time.
    _ = Unmanaged.passRetained(control)
    fault_reserve_descriptor()
    FaultPoint.install { point in fault_point_reach(index(of: point)) }
  }

  static func index(of point: FaultPoint) -> CInt {
    CInt(FaultPoint.allCases.firstIndex(of: point) ?? -1)
  }
}
