/// Programs that know nothing of the library, as text for `python3 -c`.
enum ForeignPrograms {
  /// What both have in common; the text of rows is that of `RowText`.
  private static let common = """
    import json, os, sqlite3, struct, sys
    def cell(v):
        if v is None: return "N"
        if isinstance(v, int): return "I%d" % v
        if isinstance(v, float): return "R" + struct.pack(">d", v).hex()
        if isinstance(v, str): return "T%d:%s" % (len(v.encode()), v)
        return "B" + bytes(v).hex()
    def line(row): return "|".join(cell(v) for v in row)
    def fnv(text):
        h = 0xcbf29ce484222325
        for b in text.encode(): h = ((h ^ b) * 0x100000001b3) & 0xffffffffffffffff
        return h
    def answer(db, sql):
        rows = db.execute(sql[0]).fetchall()
        if len(sql) > 1:
            first = rows[0][0] if rows else None
            if len(sql) == 2: rows = db.execute(sql[1], (first,)).fetchall()
            else: rows = db.execute(sql[1 + (first & 1)] if isinstance(first, int) else sql[1]).fetchall()
        return [line(r) for r in rows]
    def quote(name): return '"' + name.replace('"', '""') + '"'
    def say(letter, **value):
        sys.stdout.write(letter + " " + json.dumps(value) + "\\n")
        sys.stdout.flush()

    """

  /// Reads everything in one transaction over a connection of its own, and says it in one line.
  ///
  /// Arguments: the database, whether the file is checked; standard input: the queries by number.
  static let reader =
    common + """
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      queries = json.loads(sys.stdin.readline())
      db.execute("BEGIN")
      state = {"answers": {}, "copies": {}, "damage": []}
      state["counter"] = db.execute("SELECT value FROM converge_counter WHERE id = 1").fetchone()[0]
      for number, sql in queries.items():
          try:
              lines = answer(db, sql)
              state["answers"][number] = {"hash": str(fnv("\\n".join(lines))), "lines": lines}
          except sqlite3.Error as error:
              state["answers"][number] = {"error": str(error)}
      tables = db.execute("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'").fetchall()
      for name, kind, keyed in tables:
          if kind == "view" or name.startswith("sqlite_"): continue
          if name.startswith("boutiquedb_") and name != "boutiquedb_mine": continue
          info = db.execute("SELECT cid, name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid",
              (name,)).fetchall()
          names = [column[1] for column in info]
          if keyed: keys = [quote(c[1]) for c in sorted((c for c in info if c[2] > 0), key=lambda c: c[2])]
          else: keys = [next(a for a in ("_rowid_", "rowid", "oid") if a not in [n.lower() for n in names])]
          rows = ["=".join((line(r[:len(keys)]), line(r[len(keys):]))) for r in db.execute(
              "SELECT %s FROM %s" % (", ".join(keys + [quote(n) for n in names]), quote(name)))]
          state["copies"][name] = {"hash": str(sum(fnv(r) for r in rows) & 0xffffffffffffffff), "rows": rows}
      state["ledger"] = dict(db.execute("SELECT id, counter FROM converge_ledger"))
      problems = [r[0] for r in db.execute("PRAGMA integrity_check")]
      if problems != ["ok"]: state["damage"] = problems
      db.execute("COMMIT")
      say("S", **state)

      """

  /// Makes the file without the library.
  ///
  /// Argument: the database; standard input: the statements.
  static let maker =
    common + """
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("PRAGMA journal_mode = WAL")
      db.execute("BEGIN")
      for sql in json.loads(sys.stdin.readline()): db.execute(sql)
      db.execute("COMMIT")
      db.close()
      say("S")

      """

  /// Writes over one connection.
  ///
  /// Arguments: the database, the settings; standard input: commands as for a library process.
  static let writer =
    common + """
      path, name, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
      def connect():
          db = sqlite3.connect(path, timeout=60, isolation_level=None)
          db.execute("PRAGMA foreign_keys = %d" % settings["foreignKeys"])
          db.execute("PRAGMA synchronous = " + settings["synchronous"])
          if not settings["foreignCheckpoints"]: db.execute("PRAGMA wal_autocheckpoint = 0")
          return db
      class Undone(Exception): pass
      def perform(db, steps):
          for step in steps:
              if step.get("savepoint") is not None:
                  db.execute("SAVEPOINT part")
                  try:
                      perform(db, step["savepoint"])
                      if step["isUndone"]: db.execute("ROLLBACK TO part")
                  except sqlite3.Error:
                      db.execute("ROLLBACK TO part")
                  db.execute("RELEASE part")
                  continue
              try: db.execute(step["sql"]).fetchall()
              except sqlite3.Error:
                  if not step["mayFail"] or not db.in_transaction: raise
      def stamp(db, entry):
          db.execute("UPDATE converge_counter SET value = value + 1 WHERE id = 1")
          db.execute("INSERT INTO converge_ledger SELECT ?, value FROM converge_counter WHERE id = 1", (entry,))
      def transact(db, operation, entry, probes):
          sample = None
          try:
              db.execute("BEGIN IMMEDIATE")
              if operation["isStampedFirst"]: stamp(db, entry)
              perform(db, operation["steps"])
              if not operation["isStampedFirst"]: stamp(db, entry)
              if operation["kind"] == "rollback": raise Undone()
              probe = operation.get("probe")
              if probe is not None:
                  counter = db.execute("SELECT value FROM converge_counter WHERE id = 1").fetchone()[0]
                  try:
                      lines = answer(db, probes[str(probe)])
                      sample = {"query": probe, "counter": counter, "hash": str(fnv("\\n".join(lines)))}
                  except sqlite3.Error: pass
              db.execute("COMMIT")
          except (sqlite3.Error, Undone) as error:
              if db.in_transaction: db.execute("ROLLBACK")
              say("E", kind="refused", operation=operation["id"], entry=entry, text=str(error))
              return
          say("E", kind="committed", operation=operation["id"], entry=entry, sample=sample)
      db = connect()
      say("E", kind="ready")
      for text in sys.stdin:
          command = json.loads(text)
          if command["kind"] == "end": break
          for operation in command["operations"]:
              entry = "%s/%d/%d" % (name, operation["id"], command["attempt"])
              kind = operation["kind"]
              if kind in ("transaction", "rollback"):
                  transact(db, operation, entry, command["probes"])
                  continue
              problem = None
              try:
                  if kind == "vacuum": db.execute("VACUUM")
                  elif kind == "checkpoint": db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                  elif kind == "reopen":
                      db.close()
                      db = connect()
              except sqlite3.Error as error: problem = str(error)
              say("E", kind="ended", operation=operation["id"], text=problem)
          say("E", kind="done")
      db.close()

      """

  /// Damages the file on purpose: an index loses its entries while the schema says otherwise.
  static let damager =
    common + """
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      db.execute("CREATE TABLE damaged (x)")
      db.execute("CREATE INDEX damaged_x ON damaged (x)")
      entry = db.execute("SELECT * FROM sqlite_schema WHERE name = 'damaged_x'").fetchone()
      db.execute("PRAGMA writable_schema = ON")
      db.execute("DELETE FROM sqlite_schema WHERE name = 'damaged_x'")
      db.execute("PRAGMA writable_schema = RESET")
      db.execute("INSERT INTO damaged VALUES (1)")
      db.execute("PRAGMA writable_schema = ON")
      db.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", entry)
      db.execute("PRAGMA writable_schema = RESET")
      db.close()
      say("S")

      """
}
