import Synchronization

/// The keys of one source, as this process has them.
///
/// A key file is read again when it has changed: before each sealing, so that nothing is sealed with a key
/// that was rotated away, and when an envelope names a key that is not known. Keys that were read once
/// stay: a snapshot may be older than the rotation.
final class KeyVault: Sendable {
  private struct State {
    /// As the source has them now, the one that seals first.
    var ring: [SecretKey] = []
    /// All that were ever read.
    var known: [[UInt8]: SecretKey] = [:]
    var stamp: KeyFile.Stamp?
    var isSwept = false

    mutating func take(_ keys: [SecretKey]) {
      ring = keys
      for key in keys { known[key.id] = key }
    }
  }

  let source: SecureKeySource
  private let state = Mutex(State())

  init(_ source: SecureKeySource) { self.source = source }

  /// The file, where the key lies in one.
  var file: KeyFile? {
    guard case .file(let path, let isOurPlace) = source.kind else { return nil }
    return KeyFile(path: path, isOurPlace: isOurPlace)
  }

  /// Returns the key of an id; nil when the source has no such key.
  func key(_ id: [UInt8]) throws -> SecretKey? {
    try state.withLock { state in
      if let key = state.known[id] { return key }
      try load(&state)
      return state.known[id]
    }
  }

  /// The names of the keys that are known.
  var names: [String] { state.withLock { $0.known.values.map(\.name).sorted() } }

  /// Returns the key to seal with, and makes it where there was never one.
  ///
  /// - Parameter holdsSecrets: whether values are stored that were sealed before; asked only where the
  ///   file is missing.
  func sealingKey(holdsSecrets: () throws -> Bool) throws -> SecretKey {
    try state.withLock { state in
      try load(&state)
      if let key = state.ring.first { return key }
      guard let file else {
        throw SecureValueError.keyNotGiven(source: "the source", message: "it has no key")
      }
      // Whoever stored them made the file first, so it is there now, or it was lost.
      if try holdsSecrets() {
        try load(&state)
        guard let key = state.ring.first else {
          throw SecureValueError.keyMissing(path: file.path)
        }
        return key
      }
      try file.make()
      try load(&state)
      guard let key = state.ring.first else { throw SecureValueError.keyMissing(path: file.path) }
      return key
    }
  }

  /// Returns the keys as the source has them now.
  func ring() throws -> [SecretKey] {
    try state.withLock { state in
      try load(&state)
      return state.ring
    }
  }

  private func load(_ state: inout State) throws {
    switch source.kind {
    case .file:
      guard let file else { return }
      if let stamp = file.stamp, stamp == state.stamp { return }
      // Another may be sealed with than the one that is in memory.
      state.ring = []
      state.stamp = nil
      guard let (keys, stamp) = try file.read() else { return }
      if !state.isSwept { file.sweep() }
      state.isSwept = true
      state.take(keys)
      state.stamp = stamp
    case .environment(let variable):
      if state.ring.isEmpty { state.take(try GivenKeyText.environment(variable)) }
    case .credential(let name):
      if state.ring.isEmpty { state.take(try GivenKeyText.credential(name)) }
    case .given(let given):
      if state.ring.isEmpty { state.take(try given.keys.get()) }
    case .nowhere(let error): throw error
    }
  }
}
