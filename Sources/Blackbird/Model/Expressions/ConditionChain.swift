/// Conditions in a row, with one and the same word between them.
///
/// A chain that grows by one condition at a time is copied at every step, so it is kept in groups, and only one
/// group and the list of groups are copied.
struct ConditionChain<Part: Sendable>: Sendable {
  /// SQLite takes an expression of up to 1000 levels, and every condition of a row is one.
  private static var groupLimit: Int { 128 }

  private var groups: [[Part]]

  init(_ part: Part) { groups = [[part]] }

  private init(groups: [[Part]]) { self.groups = groups }

  static func + (a: Self, b: Self) -> Self {
    var groups = a.groups
    var more = b.groups[...]
    if let last = groups.last, let first = more.first, last.count + first.count <= groupLimit {
      groups[groups.count - 1] = last + first
      more = more.dropFirst()
    }
    return Self(groups: groups + more)
  }

  /// All the conditions, in order.
  var parts: some Sequence<Part> { groups.joined() }

  /// Returns the chain of what the conditions become; those that become nil are left out.
  func map<Other>(_ transform: (Part) throws -> Other?) rethrows -> ConditionChain<Other> {
    ConditionChain<Other>(groups: try groups.map { try $0.compactMap(transform) })
  }
}

extension ConditionChain<String> {
  /// The conditions as one, in parentheses; nil where there are none.
  func text(joinedBy word: String) -> String? {
    func joined(_ texts: some Collection<String>) -> String? {
      texts.count > 1 ? "(" + texts.joined(separator: " \(word) ") + ")" : texts.first
    }
    var texts = groups.compactMap { joined($0) }
    while texts.count > Self.groupLimit {
      texts = stride(from: 0, to: texts.count, by: Self.groupLimit).compactMap {
        joined(texts[$0..<min($0 + Self.groupLimit, texts.count)])
      }
    }
    return joined(texts)
  }
}
