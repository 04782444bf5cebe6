import Boutique
import BoutiqueDB
import Testing

private let one = SettingRow.value(key: "one")
private let two = SettingRow.value(key: "two")

private func token(_ number: Int64, _ generation: String = "g") -> ChangeToken {
  ChangeToken(generation: generation, number: number)
}

/// What memory knows of rows, whatever the order in which it hears of them.
struct ValueKnownRowsTests {
  @Test func `an older snapshot takes nothing back`() {
    var known = KnownRows()
    known.begin(with: [one: "1"])
    known.take(commit: [(one, "2")], token(7))
    let touched = known.take(
      snapshot: [one: "1", two: "x"], asked: nil, token(6), beginsAnew: false)
    #expect(known.rows == [one: "2", two: "x"])
    #expect(touched == [two])
    // And does not lower what is known of the row.
    _ = known.take(snapshot: [one: "1"], asked: [one], token(6), beginsAnew: false)
    #expect(known.rows[one] == "2")
  }

  @Test func `a snapshot holds the commits up to its token`() {
    var known = KnownRows()
    _ = known.take(snapshot: [one: "3"], asked: [one], token(8), beginsAnew: false)
    known.take(commit: [(one, "2")], token(7))
    #expect(known.rows[one] == "3")
    // A foreign program's commit has no number: the snapshot that shows it has that of the one before.
    known.take(commit: [(one, "4")], token(9))
    _ = known.take(snapshot: [one: "foreign"], asked: nil, token(9), beginsAnew: false)
    #expect(known.rows[one] == "foreign")
    known.take(commit: [(one, "4")], token(9))
    #expect(known.rows[one] == "foreign")
  }

  @Test func `the last of several changes in a commit counts`() {
    var known = KnownRows()
    known.take(commit: [(one, "1"), (two, "x"), (one, "2"), (two, nil)], token(3))
    #expect(known.rows == [one: "2"])
    known.take(commit: [(one, nil)], token(4))
    #expect(known.rows == [:])
  }

  @Test func `a row that is gone from a snapshot is gone`() {
    var known = KnownRows()
    known.begin(with: [one: "1", two: "2"])
    #expect(known.take(snapshot: [two: "2"], asked: nil, token(5), beginsAnew: false) == [one])
    #expect(known.take(snapshot: [:], asked: [two], token(6), beginsAnew: false) == [two])
    #expect(known.rows == [:])
  }

  @Test func `a file that was put in the other's place begins anew`() {
    var known = KnownRows()
    _ = known.take(snapshot: [one: "new"], asked: nil, token(100), beginsAnew: false)
    // The same file as it was, from a backup.
    _ = known.take(snapshot: [one: "old"], asked: nil, token(50), beginsAnew: true)
    #expect(known.rows == [one: "old"])
    known.take(commit: [(one, "newer")], token(51))
    #expect(known.rows == [one: "newer"])
    // Another file; its commits mean nothing before its first snapshot.
    known.take(commit: [(one, "theirs")], token(60, "h"))
    #expect(known.rows == [one: "newer"])
    _ = known.take(snapshot: [two: "theirs"], asked: nil, token(1, "h"), beginsAnew: true)
    #expect(known.rows == [two: "theirs"])
  }
}
