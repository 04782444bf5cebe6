import BoutiqueDB
import Synchronization

/// Holds a database's engine as soon as it is open, for those who cannot wait.
final class OpenedEngine: Sendable {
  private let state = Mutex<BoutiqueDB?>(nil)

  var engine: BoutiqueDB? { state.withLock { $0 } }

  func set(_ engine: BoutiqueDB) -> BoutiqueDB {
    state.withLock { $0 = engine }
    return engine
  }
}
