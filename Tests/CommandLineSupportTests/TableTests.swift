import CommandLineSupport
import Testing

@Suite struct TableTests {
  private func style(width: Int?, colour: Bool = false) -> TerminalStyle {
    var style = TerminalStyle.plain
    style.columns = width
    style.usesColour = colour
    return style
  }

  private var table: TextTable {
    var table = TextTable(titles: ["id", "title", "pinned"])
    table.append([.number("1"), .text("Groceries"), .null])
    table.append([.number("12"), .text("日本語"), .text("NULL")])
    table.append([.number("3"), .text("👍 ok"), .text("")])
    return table
  }

  @Test func `columns line up whatever the script`() {
    #expect(
      table.lines(style(width: nil)) == [
        "id  title      pinned",
        "──  ─────────  ──────",
        " 1  Groceries  NULL",
        "12  日本語     'NULL'",
        " 3  👍 ok",
      ])
  }

  @Test func `the header can be left out`() {
    #expect(table.lines(style(width: nil), showsHeader: false).count == 3)
  }

  @Test(arguments: [1, 2, 5, 8, 10, 12, 15, 20, 40])
  func `no line is wider than the terminal`(width: Int) {
    for line in table.lines(style(width: width)) { #expect(line.displayWidth <= width) }
  }

  @Test func `the widest column gives way first`() {
    var table = TextTable(titles: ["id", "body"])
    table.append([.number("123"), .text(String(repeating: "long ", count: 30))])
    #expect(
      table.lines(style(width: 20))[2] == "123  long long long…".truncated(toWidth: 20))
  }

  @Test func `NULL is dim where there is colour and every colour is ended`() {
    for width in [nil, 15, 9] {
      for line in table.lines(style(width: width, colour: true)) {
        let starts = line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).count - 1
        let ends = line.split(separator: "\u{1B}[0m", omittingEmptySubsequences: false).count - 1
        #expect(starts == ends * 2)
      }
    }
    #expect(table.lines(style(width: nil, colour: true))[2].contains("\u{1B}[2mNULL"))
  }

  @Test func `line ends inside a value stay inside its cell`() {
    var table = TextTable(titles: ["a\nb"])
    table.append([.text("x\ny")])
    #expect(table.lines(style(width: nil)) == ["a␊b", "───", "x␊y"])
  }

  @Test func `rows after the sample take the room they need`() {
    let layout = TableLayout(
      titles: ["n", "t"], sample: [[.number("1"), .text("short")]], width: nil)
    let row: [TableCell] = [.number("1000"), .text("much longer")]
    #expect(layout.line(row, style(width: nil)) == "1000  much longer")
    let narrow = TableLayout(
      titles: ["n", "t"], sample: [[.number("1"), .text("short")]], width: 12)
    #expect(narrow.line(row, style(width: 12)) == "1000  much …")
  }

  @Test func `rows after the sample are cut in columns that were narrowed`() {
    let sample: [[TableCell]] = [[.text(String(repeating: "x", count: 50)), .text("end")]]
    let layout = TableLayout(titles: ["a", "b"], sample: sample, width: 20)
    let row: [TableCell] = [.text(String(repeating: "y", count: 90)), .text("end")]
    #expect(layout.line(row, style(width: 20)) == String(repeating: "y", count: 14) + "…  end")
  }

  @Test func `a table without columns or rows is no problem`() {
    #expect(TextTable(titles: []).lines(style(width: 10)) == ["", ""])
    #expect(TextTable(titles: ["a"]).lines(style(width: 10)) == ["a", "─"])
  }
}

@Suite struct TerminalStyleTests {
  private let size = (columns: 120, rows: 40)

  @Test func `a terminal has its size and colour`() {
    let style = TerminalStyle(isTerminal: true, size: size, environment: ["TERM": "xterm"])
    #expect(style.columns == 120)
    #expect(style.rows == 40)
    #expect(style.paint("x", .red) == "\u{1B}[31mx\u{1B}[0m")
  }

  @Test(arguments: [
    (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false),
    (["NO_COLOR": "0"], false), ([:], true),
  ])
  func `colour can be turned off`(environment: [String: String], usesColour: Bool) {
    let style = TerminalStyle(isTerminal: true, size: size, environment: environment)
    #expect(style.usesColour == usesColour)
  }

  @Test func `COLUMNS comes before the window when it is a number`() {
    let narrow = TerminalStyle(isTerminal: true, size: size, environment: ["COLUMNS": "33"])
    #expect(narrow.columns == 33)
    for nonsense in ["", "x", "-5", "0"] {
      let style = TerminalStyle(
        isTerminal: true, size: size, environment: ["COLUMNS": nonsense])
      #expect(style.columns == 120)
    }
  }

  @Test func `a terminal that does not tell its size counts as eighty by twenty-four`() {
    let style = TerminalStyle(isTerminal: true, size: nil, environment: [:])
    #expect(style.columns == 80)
    #expect(style.rows == 24)
  }

  @Test func `a pipe has neither width nor colour`() {
    #expect(TerminalStyle.plain.columns == nil)
    #expect(TerminalStyle.plain.paint("x", .bold) == "x")
  }
}

@Suite struct AlternateScreenTests {
  @Test func `a frame has no more lines than the screen and wipes what is below`() {
    #expect(AlternateScreen.frame(["a", "b", "c"], rows: 2) == "\u{1B}[H\u{1B}[2Ka\n\u{1B}[2Kb")
    #expect(AlternateScreen.frame(["a"], rows: 5) == "\u{1B}[H\u{1B}[2Ka\n\u{1B}[J")
    #expect(AlternateScreen.frame([], rows: 5) == "\u{1B}[H\n\u{1B}[J")
  }
}
