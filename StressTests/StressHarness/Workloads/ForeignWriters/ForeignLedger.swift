import BoutiqueDB

/// What programs of both kinds change together, and what must hold of it in every snapshot.
///
/// Each operation is one transaction: it adds one to a counter, moves money between two accounts, and writes
/// down that it has done so.
enum ForeignLedger {
  static let counters = 3
  static let accounts = 8
  static let total: Int64 = 8000

  static let schema = """
    CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
    CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, number INTEGER NOT NULL,
      counter INTEGER NOT NULL, UNIQUE (process, number));
    CREATE INDEX entry_counter ON entry (counter);
    """

  /// One operation's choices.
  struct Move: Sendable {
    var counter: Int
    var from: Int
    var to: Int
    var amount: Int

    init(_ random: inout some RandomNumberGenerator) {
      counter = Int.random(in: 0..<ForeignLedger.counters, using: &random)
      from = Int.random(in: 0..<ForeignLedger.accounts, using: &random)
      to =
        (from + Int.random(in: 1..<ForeignLedger.accounts, using: &random))
        % ForeignLedger.accounts
      amount = Int.random(in: 1...50, using: &random)
    }

    /// The statements without BEGIN and COMMIT, in the SQL that every program understands.
    func statements(_ id: EntryID) -> [String] {
      [
        "UPDATE counter SET value = value + 1 WHERE id = \(counter)",
        "UPDATE account SET balance = balance - \(amount) WHERE id = \(from)",
        "UPDATE account SET balance = balance + \(amount) WHERE id = \(to)",
        "INSERT INTO entry (process, number, counter) VALUES (\(id.process), \(id.number), \(counter))",
      ]
    }
  }

  /// Everything that must hold, read in one snapshot.
  struct State: Sendable, Equatable, Codable {
    var counters: [Int64]
    var sum: Int64
    /// The number of entries by counter.
    var entries: [Int64]

    init(counters: [Int64], sum: Int64, entries: [Int64]) {
      self.counters = counters
      self.sum = sum
      self.entries = entries
    }

    init(_ connection: BoutiqueConnection) throws {
      counters = try connection.query("SELECT value FROM counter ORDER BY id").map {
        try $0.decode(0)
      }
      sum = try connection.queryOne("SELECT sum(balance) FROM account")?.decode(0) ?? 0
      entries = try (0..<ForeignLedger.counters).map {
        try connection.queryOne("SELECT count(*) FROM entry WHERE counter = ?", $0)?.decode(0) ?? 0
      }
    }

    /// What is wrong with it, given an earlier one; nil when nothing is.
    func problem(after before: State? = nil) -> String? {
      if sum != ForeignLedger.total { return "the accounts hold \(sum), not \(total)" }
      if counters != entries { return "counters \(counters), but entries \(entries)" }
      if let before, zip(before.counters, counters).contains(where: { $0 > $1 }) {
        return "counters went back from \(before.counters) to \(counters)"
      }
      return nil
    }
  }
}
