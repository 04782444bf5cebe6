import BoutiqueDB

/// One row of the order: a sum of its own content and of the row before.
struct ChainLink: Sendable, Equatable, Codable {
  var position: Int64
  var process: Int64
  var number: Int64
  var own: Int64
  var chain: Int64

  private static func next(_ chain: Int64, _ position: Int64, _ id: (Int64, Int64)) -> Int64 {
    var hash = UInt64(bitPattern: chain)
    for value in [position, id.0, id.1] {
      hash = (hash ^ UInt64(bitPattern: value)) &* 0x100_0000_01b3
      hash ^= hash >> 29
    }
    return Int64(bitPattern: hash)
  }

  /// Appends the row of an operation.
  static func append(
    _ id: EntryID, size: Int, _ connection: BoutiqueConnection
  ) throws -> ChainLink {
    let last = try connection.queryOne(
      "SELECT position, chain FROM entry ORDER BY position DESC LIMIT 1")
    let position = try (last?.decode("position", as: Int64.self) ?? 0) + 1
    let before = try last?.decode("chain", as: Int64.self) ?? 0
    let (process, number) = (Int64(id.process), Int64(id.number))
    let own =
      try
      (connection.queryOne("SELECT own FROM tally WHERE id = ?", process)?
      .decode(0, as: Int64.self) ?? 0) + 1
    let link = ChainLink(
      position: position, process: process, number: number, own: own,
      chain: next(before, position, (process, number)))
    try connection.execute(
      "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", position, process, number, own,
      filler(position, size), link.chain)
    try connection.execute(
      "INSERT OR REPLACE INTO tally VALUES (?, ?, ?)", process, position, own)
    return link
  }

  private static func filler(_ position: Int64, _ size: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: position &* 31 &+ 7), count: size)
  }

  /// Reads rows, and whether each one's filler is that of its place.
  static func all(_ connection: BoutiqueConnection, _ clause: String) throws -> [ChainLink] {
    var links: [ChainLink] = []
    try connection.forEachRow(
      "SELECT position, process, number, own, chain, filler FROM entry \(clause)"
    ) { row in
      var link = ChainLink(
        position: try row.decode(0), process: try row.decode(1), number: try row.decode(2),
        own: try row.decode(3), chain: try row.decode(4))
      let filler = try row.decode(5, as: [UInt8].self)
      // A torn filler is told by a chain that cannot be right.
      if filler != Self.filler(link.position, filler.count) { link.chain = ~link.chain }
      links.append(link)
    }
    return links
  }

  /// What is wrong with consecutive rows; nil when nothing is.
  ///
  /// - Parameter isWhole: whether the first of them is the first of all.
  static func problem(_ links: [ChainLink], isWhole: Bool = false) -> String? {
    var before = isWhole ? ChainLink(position: 0, process: 0, number: 0, own: 0, chain: 0) : nil
    for link in links {
      if let before {
        if link.position != before.position + 1 {
          return "after position \(before.position) comes \(link.position)"
        }
        if link.chain != next(before.chain, link.position, (link.process, link.number)) {
          return "position \(link.position) does not follow from the one before it"
        }
      }
      before = link
    }
    return nil
  }
}
