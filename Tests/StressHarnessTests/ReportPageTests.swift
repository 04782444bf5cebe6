import Foundation
import StressHistory
import StressReport
import TestDatabase
import Testing

/// The page of drawings.
@Suite struct ReportPageTests {
  /// Reads a page as far as it takes to see that every element that is opened is closed, in order.
  private struct PageReader {
    private(set) var faults: [String] = []
    private(set) var names: [String: Int] = [:]
    private var open: [String] = []

    init(_ page: String) {
      var rest = Substring(page)
      if rest.hasPrefix("<!doctype html>") { rest = rest.dropFirst(15) }
      while let start = rest.firstIndex(of: "<") {
        guard let end = rest[start...].firstIndex(of: ">") else {
          faults.append("a tag without end: \(rest[start...].prefix(40))")
          break
        }
        read(String(rest[rest.index(after: start)..<end]))
        rest = rest[rest.index(after: end)...]
      }
      faults += open.map { "<\($0)> is not closed" }
    }

    private mutating func read(_ tag: String) {
      if tag.hasPrefix("/") {
        let name = String(tag.dropFirst())
        if open.popLast() != name { faults.append("</\(name)> closes another") }
        return
      }
      let name = String(tag.prefix { $0.isLetter || $0.isNumber })
      if name.isEmpty { faults.append("no name: <\(tag.prefix(40))>") }
      if !tag.count(where: { $0 == "\"" }).isMultiple(of: 2) { faults.append("quotes: \(tag)") }
      names[name, default: 0] += 1
      if !tag.hasSuffix("/") { open.append(name) }
    }
  }

  private static let pages: [(name: String, page: String)] = [
    ("clean", ReportPage.html(KnownRun.report([KnownRun.result]))),
    ("violated", ReportPage.html(KnownRun.report([KnownRun.violated]))),
    ("both", ReportPage.html(KnownRun.report([KnownRun.result, KnownRun.violated]))),
    ("empty", ReportPage.html(KnownRun.report([]))),
    ("nothing done", ReportPage.html(KnownRun.report([nothing]))),
    ("crowd", ReportPage.html(KnownRun.report([crowd]))),
  ]

  private static var nothing: RunResult {
    var result = KnownRun.result
    result.history = History()
    result.faults = []
    result.ended = result.began
    return result
  }

  private static var crowd: RunResult {
    var result = KnownRun.result
    result.places = Array(0..<64)
    return result
  }

  @Test(arguments: pages)
  func `every element is closed, in order`(name: String, page: String) {
    let reader = PageReader(page)
    #expect(reader.faults.isEmpty, "\(reader.faults.prefix(5))")
    #expect(reader.names["html"] == 1)
  }

  @Test(arguments: pages)
  func `a page needs nothing from outside and runs nothing`(name: String, page: String) {
    for word in ["http:", "https:", "src=", "@import", "url(//", "<link", "<img", "<iframe"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(PageReader(page).names["script"] == nil)
  }

  @Test(arguments: pages)
  func `text from outside is shown and is no markup`(name: String, page: String) {
    #expect(!page.contains("<script"))
    #expect(!page.contains("alert('"))
    for scalar in page.unicodeScalars where scalar.value < 32 && scalar != "\n" {
      Issue.record("control character \(scalar.value) in the page")
    }
    #expect(!page.unicodeScalars.contains("\u{202E}"))
  }

  @Test func `what is escaped can be read`() {
    #expect(Markup.escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;")
    #expect(Markup.escaped("\u{0}\u{1B}\u{7F}") == "\u{2400}\u{241B}\u{2421}")
    #expect(Markup.escaped("naïve 日本 🐟") == "naïve 日本 🐟")
  }

  @Test func `a violation shows its operations, its edges and how to run it again`() {
    let page = ReportPage.html(KnownRun.report([KnownRun.violated]))
    #expect(page.contains("class=\"box refused\""))
    #expect(page.contains("class=\"box unknown\""))
    #expect(page.contains("never answered"))
    #expect(page.contains("process 0, place 0"))
    // Three edges; the fourth names an operation that is not there.
    #expect(page.components(separatedBy: "marker-end=").count - 1 == 3)
    #expect(page.contains("boutique-stress replay &#39;/tmp/it"))
    #expect(page.contains("boutique-stress run --workload counters --faults kill,pause"))
  }

  @Test func `labels of arrows do not cover each other`() {
    let labels = (0..<12).map {
      ArrowLabel(text: "\($0) ended befo…", x: $0 % 3 == 0 ? 400 : 100, y: 50)
    }
    let placed = ArrowLabel.apart(labels)
    #expect(placed.count == labels.count)
    for (index, label) in placed.enumerated() {
      #expect(!placed[..<index].contains { label.overlaps($0) }, "\(label)")
    }
    // What covers nothing stays where it was.
    #expect(placed[0].y == 50)
    #expect(placed[1].y == 50)
  }

  @Test func `a figure of several lanes says that it can be scrolled`() {
    #expect(ReportPage.html(KnownRun.report([KnownRun.violated])).contains("class=\"hint lanes2\""))
    var one = KnownRun.violated
    one.violations[0].operations.removeAll { $0.process != 0 }
    #expect(!ReportPage.html(KnownRun.report([one])).contains("class=\"hint"))
  }

  @Test func `each figure of a run has its drawing`() {
    let page = ReportPage.html(KnownRun.report([KnownRun.result]))
    for title in [
      "Operations in a second", "Latency of operations", "Waiting for the write lock",
      "From commit to live query", "Length of the write-ahead log", "Faults",
      "Operations done by each place",
    ] {
      #expect(page.contains("<h3>\(title)"), "\(title)")
    }
    // A number that a drawing could not work out would stand in it as nan or inf.
    #expect(!page.contains("nan"))
    #expect(!page.contains("\"inf"))
  }

  // MARK: Files

  @Test func `a report that is written is read as it was`() throws {
    let place = try TestDirectory()
    let report = KnownRun.report([KnownRun.result, KnownRun.violated])
    try report.write(place.file("report.json"))
    let again = try SavedReport.read(place.file("report.json"))
    #expect(again.runs.map(\.violations) == report.runs.map(\.violations))
    #expect(again.runs.map(\.faults) == report.runs.map(\.faults))
    #expect(again.machine == report.machine)
    #expect(ReportPage.html(again) == ReportPage.html(report))
  }

  @Test func `a file that is no report says what it is`() throws {
    let place = try TestDirectory()
    let path = place.file("x.json")
    #expect(throws: ReportFileError.self) { try SavedReport.read(path) }
    try Data("[]".utf8).write(to: place.url("x.json"))
    #expect(throws: ReportFileError.notAReport(path)) { try SavedReport.read(path) }
    try Data(#"{"format":"boutique-stress report 99"}"#.utf8).write(to: place.url("x.json"))
    #expect(throws: ReportFileError.otherFormat(path, "boutique-stress report 99")) {
      try SavedReport.read(path)
    }
  }

  @Test(arguments: [
    ("plain/path.json", "plain/path.json"), ("", "''"), ("it's", #"'it'\''s'"#), ("a b", "'a b'"),
    ("$(x)", "'$(x)'"),
  ])
  func `a word is quoted for a shell when it has to be`(word: String, quoted: String) {
    #expect(ShellWord.quoted(word) == quoted)
  }
}
