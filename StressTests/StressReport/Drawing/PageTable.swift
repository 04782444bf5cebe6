/// Tables of the page: words to the left, numbers to the right.
enum PageTable {
  /// A card with a title and a table, of which the first `words` columns are words.
  static func card(_ title: String, _ titles: [String], _ rows: [[String]], words: Int = 1)
    -> String
  {
    let escaped = rows.map { $0.map(Markup.escaped) }
    return "<div class=\"card\">" + Markup.element("h3", text: title)
      + table(titles, escaped, words: words) + "</div>"
  }

  /// A table of cells that are markup already.
  static func table(_ titles: [String], _ rows: [[String]], words: Int = 1) -> String {
    func row(_ cells: [String], _ name: String) -> String {
      let cells = cells.enumerated().map { index, cell in
        "<\(name)\(index < words ? " class=\"word\"" : "")>\(cell)</\(name)>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
    return "<div class=\"scroll\"><table><thead>\(row(titles.map(Markup.escaped), "th"))</thead>"
      + "<tbody>\(rows.map { row($0, "td") }.joined())</tbody></table></div>"
  }
}
