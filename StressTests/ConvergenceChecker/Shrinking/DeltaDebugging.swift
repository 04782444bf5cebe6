/// Makes a list as short as it goes while it still fails (Zeller and Hildebrandt, "Simplifying and Isolating
/// Failure-Inducing Input", the part that removes complements).
package enum DeltaDebugging {
  /// Returns a shortest part of a list that fails, in the sense that no single element can be left out.
  package static func shortest<Element: Sendable>(
    _ elements: [Element], isolation: isolated (any Actor)? = #isolation,
    fails: ([Element]) async throws -> Bool
  ) async rethrows -> [Element] {
    var elements = elements
    if elements.isEmpty { return [] }
    if try await fails([]) { return [] }
    var parts = 2
    while elements.count > 1 {
      let size = (elements.count + parts - 1) / parts
      var isShorter = false
      for start in stride(from: 0, to: elements.count, by: size) {
        let candidate = Array(elements[..<start] + elements[min(start + size, elements.count)...])
        if candidate.isEmpty { continue }
        if try await fails(candidate) {
          elements = candidate
          parts = max(2, parts - 1)
          isShorter = true
          break
        }
      }
      if isShorter { continue }
      if size == 1 { break }
      parts = min(elements.count, parts * 2)
    }
    return elements
  }
}
