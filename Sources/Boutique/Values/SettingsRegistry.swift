import BoutiqueDB
import Synchronization

/// The engines of this process: one for each settings file, however many storages name it.
enum SettingsRegistry {
  private struct State {
    /// Kept until they are closed: the next value of the file shall find it open.
    var ofFiles: [ByteText: SettingsEngine] = [:]
    var ofDatabases: [ObjectIdentifier: WeakEngine] = [:]
  }

  private struct WeakEngine {
    weak var engine: SettingsEngine?
  }

  private static let state = Mutex(State())

  static func engine(of path: String, _ source: SettingsDatabase.Source) -> SettingsEngine {
    state.withLock { state in
      if let engine = state.ofFiles[ByteText(path)] { return engine }
      let engine = SettingsEngine(SettingsDatabase(source))
      state.ofFiles[ByteText(path)] = engine
      return engine
    }
  }

  // Not kept: a program's database closes when nobody needs it any more. The engine holds the database,
  // so that its address is not that of another one while the engine lives.
  static func engine(of db: BoutiqueDB, _ source: SettingsDatabase.Source) -> SettingsEngine {
    state.withLock { state in
      if let engine = state.ofDatabases[ObjectIdentifier(db)]?.engine { return engine }
      state.ofDatabases = state.ofDatabases.filter { $0.value.engine != nil }
      let engine = SettingsEngine(SettingsDatabase(source))
      state.ofDatabases[ObjectIdentifier(db)] = WeakEngine(engine: engine)
      return engine
    }
  }

  static func existingEngine(of path: String) -> SettingsEngine? {
    state.withLock { $0.ofFiles[ByteText(path)] }
  }

  static func existingEngine(of db: BoutiqueDB) -> SettingsEngine? {
    state.withLock { $0.ofDatabases[ObjectIdentifier(db)]?.engine }
  }

  static func forget(_ engine: SettingsEngine) {
    state.withLock { state in
      for (path, other) in state.ofFiles where other === engine { state.ofFiles[path] = nil }
      for (db, other) in state.ofDatabases where other.engine === engine {
        state.ofDatabases[db] = nil
      }
    }
  }
}
