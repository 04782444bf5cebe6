import CommandLineSupport
import Testing

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한국", 4), ("ｱ", 1), ("Ａ", 2),
    ("👍", 2), ("👩‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("⌚", 2), ("1️⃣", 2),
    ("a\u{200B}b", 2), ("\u{301}", 0), ("Ελλάδα", 6), ("עברית", 5), ("—", 1), ("…", 1), ("𠀀", 2),
    ("\u{1112}\u{1161}\u{11AB}", 2),
  ])
  func `a text takes as many columns as a terminal gives it`(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 2, "…"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("👩‍👩‍👧‍👦👍", 3, "👩‍👩‍👧‍👦…"),
  ])
  func `a cut never goes through a character and never beyond the width`(
    text: String, limit: Int, expected: String
  ) {
    let cut = text.truncated(toWidth: limit)
    #expect(cut == expected)
    #expect(cut.displayWidth <= limit)
  }

  @Test(arguments: [
    ("a\nb\tc", "a␊b␉c"), ("\u{1B}[31mred", "␛[31mred"), ("nul\0", "nul␀"), ("\u{7F}", "␡"),
    ("\r\n", "␍␊"), ("\u{9B}31m", "\\u{9B}31m"), ("\u{202E}abc", "\\u{202E}abc"),
    ("plain", "plain"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
  ])
  func `nothing that steers a terminal gets through`(text: String, shown: String) {
    #expect(text.visible() == shown)
  }

  @Test func `a huge text is looked at only as far as needed`() {
    let huge = String(repeating: "x", count: 5_000_000)
    #expect(huge.visible(upToWidth: 10).count <= 12)
  }
}
