/// Whether it pays to keep the lease a moment for the caller that has just been told of its commit.
///
/// A task that writes again and again is back within some tens of microseconds; without the moment each of
/// its writes costs a hand-over, with context switches in two processes. A caller that does not come back
/// makes others wait for that moment in vain. So what happened the last times decides: after a moment in
/// vain twice as many chances as before are let go by.
struct Lingering {
  /// How long the moment is; the kernel adds about as much (timer slack).
  static let span: Duration = .microseconds(40)
  private static let most = 256

  private var misses = 0
  private var skips = 0

  /// Whether to wait this time.
  mutating func isWorthwhile() -> Bool {
    guard skips > 0 else { return true }
    skips -= 1
    return false
  }

  /// Notes whether somebody came.
  mutating func ended(withWrite: Bool) {
    if withWrite {
      misses = 0
      return
    }
    misses = min(misses + 1, 8)
    skips = min(Self.most, 1 << misses)
  }
}
