import BoutiqueDB
import Testing

struct BriefWaitTests {
  @Test func `what has happened is seen at once, and what happens meanwhile`() {
    let wait = BriefWait(atMost: .seconds(60))
    guard wait.isOfUse else { return }
    #expect(wait.wait { true })
    var looks = 0
    let hasHappened = wait.wait {
      looks += 1
      return looks == 100
    }
    #expect(hasHappened)
    #expect(looks == 100)
  }

  @Test func `waits in vain become rarer, and one that paid makes them frequent again`() {
    let wait = BriefWait(atMost: .zero)
    guard wait.isOfUse else { return }
    func looks() -> Bool {
      var count = 0
      _ = wait.wait {
        count += 1
        return false
      }
      return count > 0
    }
    // In vain, then two chances let go by, in vain, then four.
    #expect(
      (0..<9).map { _ in looks() } == [true, false, false, true, false, false, false, false, true])
    for _ in 0..<8 { #expect(!looks()) }
    #expect(wait.wait { true })
    #expect((0..<4).map { _ in looks() } == [true, false, false, true])
  }
}
