import Dispatch
import Foundation

/// Where the value of a live wrapper changes.
public enum BlackbirdLiveIsolation: Sendable {
  /// In turns of the actor whose code makes the wrapper; of the main actor where it is made in a turn of that,
  /// as the properties of a main-actor model are; else anywhere.
  case automatic
  /// At any moment, on a thread of the cooperative pool: for programs whose main thread is busy.
  case anywhere
  /// In turns of an actor.
  case actor(any Actor)

  /// The actor, found out where the wrapper is made; nil for anywhere.
  func resolved(caller: (any Actor)?) -> (any Actor)? {
    switch self {
    case .automatic: caller ?? (MainTurn.isCurrent ? MainActor.shared : nil)
    case .anywhere: nil
    case .actor(let actor): actor
    }
  }
}

/// Tells turns of the main actor from everything else.
///
/// The language does not say it to the initial value of a property, be the type of the main actor or not.
private enum MainTurn {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// The main actor's turns are the main queue's, on whatever thread; before that runs, the main thread's.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}
