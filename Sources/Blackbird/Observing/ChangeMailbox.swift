import Synchronization

/// Changes on their way to one receiver: a short line, whose end takes in more when the receiver is slow.
///
/// 1. Nothing that was put in is lost before it is taken: past `limit` a change is put together with the
///    last one in the line.
/// 2. What is in the line when the end comes is still given, then the end.
/// 3. One taker at a time.
final class ChangeMailbox<Element: Sendable>: Sendable {
  private enum End: Sendable {
    case cancelled
    case failed(any Error)
  }

  private struct State: Sendable {
    var line: [Element] = []
    var end: End?
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// How many changes stand in the line before they are put together.
  static var limit: Int { 64 }

  private let state = Mutex(State())
  private let merge: @Sendable (Element, Element) -> Element

  init(merging merge: @escaping @Sendable (Element, Element) -> Element) { self.merge = merge }

  /// How many changes wait to be taken; bounded.
  var count: Int { state.withLock(\.line.count) }

  func put(_ element: Element) {
    signal { state in
      guard state.end == nil else { return }
      if state.line.count >= Self.limit, let last = state.line.popLast() {
        state.line.append(merge(last, element))
      } else {
        state.line.append(element)
      }
    }
  }

  /// Ends the line; what is in it is still given, unless nobody wants it any more.
  ///
  /// - Parameter error: nil when the receiver itself has gone.
  func end(_ error: (any Error)?) {
    signal { state in
      if let error {
        if state.end == nil { state.end = .failed(error) }
      } else {
        state.end = .cancelled
        state.line = []
      }
    }
  }

  /// Returns the next change, or nil when there will be none for this receiver.
  ///
  /// - Throws: what the line ended with.
  func next() async throws -> Element? {
    while true {
      let found = try state.withLock { state -> Element?? in
        if !state.line.isEmpty { return .some(state.line.removeFirst()) }
        switch state.end {
        case .cancelled: return .some(nil)
        case .failed(let error): throw error
        case nil: return nil
        }
      }
      if let found { return found }
      if Task.isCancelled { return nil }
      await wait()
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let mustWait = state.withLock { state in
          guard state.line.isEmpty, state.end == nil, !Task.isCancelled else { return false }
          state.waiting = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      signal { _ in }
    }
  }

  private func signal(_ body: (inout State) -> Void) {
    let continuation = state.withLock { state in
      body(&state)
      defer { state.waiting = nil }
      return state.waiting
    }
    continuation?.resume()
  }
}
