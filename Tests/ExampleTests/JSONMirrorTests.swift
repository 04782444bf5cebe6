import BoutiqueDB
import ProcessHarness
import TestDatabase
import Testing

/// The mirror of `docs/change-feed.md`, killed again and again while others write.
@Suite struct JSONMirrorTests {
  /// Reads the table and the file by another program and says whether they hold the same.
  private static let check = """
    import base64, json, sqlite3, sys
    path, mirror, table, keys = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(",")
    db = sqlite3.connect(path, timeout=60)
    db.row_factory = sqlite3.Row
    def plain(value):
        if isinstance(value, bytes):
            return {"blob": base64.b64encode(value).decode()}
        return value
    expected = {}
    for row in db.execute(f"SELECT {', '.join(k + ' AS key_' + k for k in keys)}, * FROM {table}"):
        key = json.dumps([plain(row["key_" + k]) for k in keys])
        expected[key] = {k: plain(row[k]) for k in row.keys() if not k.startswith("key_")}
    found = {}
    for line in open(mirror, encoding="utf-8"):
        entry = json.loads(line)
        key = json.dumps(entry["key"])
        if entry["row"] is None:
            found.pop(key, None)
        else:
            found[key] = entry["row"]
    if found == expected:
        print("equal", len(expected))
    else:
        for key in sorted(set(found) | set(expected)):
            if found.get(key) != expected.get(key):
                print(key, found.get(key), expected.get(key))
    """

  @Test(arguments: [
    (
      "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, data BLOB)", "rowid"
    ),
    (
      """
      CREATE TABLE item (id INTEGER, name TEXT, price REAL, data BLOB,
        PRIMARY KEY (name, id)) WITHOUT ROWID
      """, "name,id"
    ),
  ])
  func `the mirror is exact after twenty deaths`(table: String, keys: String) async throws {
    var random = ExampleSeed.generator("json-mirror")
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    let mirror = directory.file("item.jsonl")
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { _ = try $0.execute(table) }
    try await withChildProcesses { children in
      // Each row is written once or twice: a change that is lost stays lost.
      let writing = Task {
        var number = 0
        while !Task.isCancelled {
          number += 1
          try await db.write { [number] connection in
            if number % 5 == 4 {
              try connection.execute("DELETE FROM item WHERE id = ?", number - 40)
            }
            try connection.execute(
              "INSERT OR REPLACE INTO item (id, name, price, data) VALUES (?, ?, ?, ?)",
              number % 7 == 6 ? number - 3 : number, "“item” \(number % 3)\n\u{1F388}",
              Double(number) / 7, number % 5 == 3 ? nil : [UInt8(number & 255), 0])
          }
          try? await Task.sleep(for: .milliseconds(3))
        }
      }
      for round in 1...20 {
        let child = try await children.start(built: "example-json-mirror", [path, "item", mirror])
        try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &random)))
        // A foreign commit has the whole table copied, which would mend what was lost before: not at last.
        if round <= 6 {
          let shell = try await children.start(
            ChildCommand(
              "sqlite3",
              [
                "-batch", "-cmd", ".timeout 30000", path,
                "INSERT OR REPLACE INTO item VALUES (\(1_000_000 + round), 'shell', 0.1, x'00ff')",
              ]))
          #expect(try await shell.exit() == .exited(0))
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
        child.kill()
        let end = try await child.exit()
        #expect(end == .signalled(9), "\(child.standardError)")
      }
      writing.cancel()
      do { try await writing.value } catch is CancellationError {}
      let last = try await children.start(
        built: "example-json-mirror", [path, "item", mirror, "--until-idle"])
      #expect(try await last.exit() == .exited(0), "\(last.standardError)")
      let checker = try await children.start(
        ChildCommand("python3", ["-c", Self.check, path, mirror, "item", keys]))
      #expect(try await checker.exit() == .exited(0), "\(checker.standardError)")
      let lines = checker.takeLines()
      #expect(lines.count == 1 && lines.first?.hasPrefix("equal ") == true, "\(lines.prefix(5))")
      #expect(lines.first != "equal 0")
    }
    await db.close()
  }
}
