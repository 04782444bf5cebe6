import StructuredQueries

/// The triggers by which a program without this library notes what it changes.
///
/// They insert into `boutiquedb_foreign`, one row for each changed row, in the order of the changes:
///
/// | kind | meaning |
/// |---|---|
/// | −1, 0, 1 | the row with this key was deleted, updated, inserted |
/// | 2 | `REPLACE` may be about to displace the row with this key: it shares something unique with the new one |
/// | 3 | something in the table changed |
///
/// Invariants:
/// 1. They use no function and nothing newer than SQLite 3.8, so that they work in every program, with
///    `trusted_schema` off too, and fail in none: nothing that they insert can violate a constraint, whose
///    resolution the outer statement would decide.
/// 2. They name no column but those of keys and unique indexes. SQLite refuses to drop a column that a
///    trigger's body names; the column lists of `UPDATE OF` it does not look at.
/// 3. Whatever a statement may do to a row, one of them fires. `REPLACE` removes rows without a word (unless
///    `recursive_triggers` is on), so the rows that it could remove are noted before it does.
/// 4. They stop noting by themselves: past a bound the oldest notes go, which leaves a gap that is seen.
///
/// Our own connections compile the insertions to nothing (`Connection.silenceTriggers`), since the hook
/// sees more; what remains is the cost of calling an empty program. The conditions of the triggers that look
/// for displaced rows are for foreign programs: an `INSERT … SELECT` into a table with a trigger sets up a
/// temporary table each time, found something or not.
enum ForeignTriggers {
  /// What all their names begin with.
  static let prefix = "boutiquedb_foreign_"
  /// How many notes are kept when nobody fetches them.
  static let noteLimit = 65_536
  /// How many triggers tell the columns of a table apart, at most; more columns share one.
  private static let columnGroups = 6

  struct Trigger: Hashable, Sendable {
    var name: String
    var table: String
    /// The text as the schema has it.
    var sql: String
    /// The statement that makes it, be there a temporary table of the name.
    var statement: String {
      "CREATE TRIGGER main." + sql.dropFirst("CREATE TRIGGER ".count)
    }
  }

  enum Kind: Int64 {
    case delete = -1
    case update = 0
    case insert = 1
    case displaced = 2
    case table = 3
  }

  /// Returns the triggers that a database with these tables has.
  static func all(for tables: [ForeignTable]) -> [Trigger] {
    [bound] + tables.flatMap(triggers)
  }

  /// Keeps the notes from growing without end.
  ///
  /// The condition costs little, since it looks at nothing but the new row's number.
  private static let bound = Trigger(
    name: prefix + "bound", table: CaptureSchema.foreignTable,
    sql: """
      CREATE TRIGGER \(prefix)bound AFTER INSERT ON boutiquedb_foreign \
      WHEN new.id % \(noteLimit) = 0 \
      BEGIN DELETE FROM boutiquedb_foreign WHERE id < new.id; END
      """)

  private static func triggers(for table: ForeignTable) -> [Trigger] {
    let writer = Writer(table: table)
    if case .table = table.detail {
      return ["INSERT", "UPDATE", "DELETE"].map { event in
        writer.trigger(event.lowercased(), "AFTER \(event)", [writer.noteTable()])
      }
    }
    return [
      writer.trigger(
        "replace", "BEFORE INSERT", when: writer.mayDisplace(except: nil),
        writer.displaced(except: nil)),
      writer.trigger("insert", "AFTER INSERT", [writer.note(.insert, "new")]),
      writer.trigger("delete", "AFTER DELETE", [writer.note(.delete, "old")]),
      writer.trigger(
        "move", "BEFORE UPDATE" + writer.ofUniqueColumns(),
        when: writer.mayDisplace(except: writer.updatedRow),
        writer.displaced(except: writer.updatedRow)),
      writer.trigger("key", "AFTER UPDATE OF " + writer.ofKey(), writer.keyUpdate()),
    ] + writer.columnUpdates()
  }

  // MARK: Text

  private struct Writer {
    let table: ForeignTable
    var name: String { text(table.name) }

    func trigger(
      _ purpose: String, _ event: String, when condition: String? = nil, _ steps: [String]
    ) -> Trigger {
      let name = prefix + purpose + "_" + table.name
      return Trigger(
        name: name, table: table.name,
        sql: "CREATE TRIGGER \(quoted(identifier: name)) \(event) "
          + "ON \(quoted(identifier: table.name)) " + (condition.map { "WHEN \($0) " } ?? "")
          + "BEGIN "
          + steps.map { $0 + "; " }.joined() + "END")
    }

    var key: [String] {
      switch table.detail {
      case .rowID(let name): [quoted(identifier: name)]
      case .keyColumns(let names): names.map { quoted(identifier: $0) }
      case .table: []
      }
    }

    /// The beginning of a note: kind, table, columns and key follow.
    var target: String {
      "INSERT INTO boutiquedb_foreign (kind, table_name, columns"
        + (1...max(1, key.count)).map { ", key\($0)" }.joined() + ")"
    }

    func keys(_ row: String) -> String { key.map { "\(row).\($0)" }.joined(separator: ", ") }

    func note(_ kind: Kind, _ row: String, columns: String = "NULL") -> String {
      "\(target) VALUES (\(kind.rawValue), \(name), \(columns), \(keys(row)))"
    }

    func noteTable(where condition: String? = nil) -> String {
      "INSERT INTO boutiquedb_foreign (kind, table_name) "
        + (condition.map { "SELECT \(Kind.table.rawValue), \(name) WHERE \($0)" }
          ?? "VALUES (\(Kind.table.rawValue), \(name))")
    }

    // MARK: REPLACE

    /// The row that is updated, which does not displace itself.
    var updatedRow: String {
      key.map { "displaced.\($0) IS old.\($0)" }.joined(separator: " AND ")
    }

    func displaced(except same: String?) -> [String] {
      table.uniqueness.map {
        "\(target) SELECT \(Kind.displaced.rawValue), \(name), NULL, \(keys("displaced")) "
          + rows(sharing: $0, except: same)
      } + (replacesNull.map { [noteTable(where: $0)] } ?? [])
    }

    func mayDisplace(except same: String?) -> String {
      (table.uniqueness.map { "EXISTS (SELECT 1 \(rows(sharing: $0, except: same)))" }
        + (replacesNull.map { [$0] } ?? [])).joined(separator: " OR ")
    }

    private func rows(sharing unique: ForeignTable.Uniqueness, except same: String?) -> String {
      let conditions =
        unique.columns.isEmpty
        ? key.map { "displaced.\($0) = new.\($0)" }
        : unique.columns.map { column in
          let name = quoted(identifier: column.name)
          return "displaced.\(name) = new.\(name) COLLATE \(quoted(identifier: column.collation))"
        }
      return "FROM \(quoted(identifier: table.name)) AS displaced WHERE "
        + (conditions + (same.map { ["NOT (\($0))"] } ?? [])).joined(separator: " AND ")
    }

    private var replacesNull: String? {
      guard !table.replacedNulls.isEmpty else { return nil }
      return Set(table.replacedNulls).sorted().map { "new.\(quoted(identifier: $0)) IS NULL" }
        .joined(separator: " OR ")
    }

    /// The columns whose update can displace another row; none named where a generated one is among them.
    func ofUniqueColumns() -> String {
      var names: [String] = table.rowIDNames
      for unique in table.uniqueness {
        for column in unique.columns {
          let position = table.columns.firstIndex(of: column.name)
          if position.map(table.generated.contains) ?? true { return "" }
          if !names.contains(column.name) { names.append(column.name) }
        }
      }
      return " OF " + list(names)
    }

    // MARK: Updates

    func ofKey() -> String {
      guard case .keyColumns(let names) = table.detail else { return list(table.rowIDNames) }
      return list(names)
    }

    func keyUpdate() -> [String] {
      let isSame = key.map { "old.\($0) IS new.\($0) COLLATE BINARY" }.joined(separator: " AND ")
      return [
        "\(target) SELECT \(Kind.delete.rawValue), \(name), NULL, \(keys("old")) "
          + "WHERE NOT (\(isSame))",
        "\(target) VALUES (CASE WHEN \(isSame) THEN 0 ELSE 1 END, \(name), "
          + "\(columns(table.keyPositions)), \(keys("new")))",
      ]
    }

    func columnUpdates() -> [Trigger] {
      let rest = table.columns.indices.filter {
        !table.keyPositions.contains($0) && !table.generated.contains($0)
      }
      let groups = min(rest.count, columnGroups)
      return (0..<groups).map { group in
        let positions = rest.enumerated().filter { $0.offset % groups == group }.map(\.element)
        return trigger(
          "set\(group)", "AFTER UPDATE OF " + list(positions.map { table.columns[$0] }),
          [note(.update, "new", columns: columns(Set(positions)))])
      }
    }

    /// The positions as text, those of generated columns too.
    private func columns(_ positions: Set<Int>) -> String {
      text(positions.union(table.generated).sorted().map(String.init).joined(separator: ","))
    }

    private func list(_ names: [String]) -> String {
      names.map { quoted(identifier: $0) }.joined(separator: ", ")
    }

    private func text(_ text: String) -> String {
      quoted(text: text)
    }
  }
}
