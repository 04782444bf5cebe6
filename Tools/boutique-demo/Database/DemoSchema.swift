import BoutiqueDB

/// The tables of the demo.
enum DemoSchema {
  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1_files") { connection in
      try connection.executeScript(
        """
        -- One row a file. The path is text where it is valid UTF-8, otherwise a blob.
        CREATE TABLE file (
          id INTEGER PRIMARY KEY,
          path ANY NOT NULL UNIQUE,
          kind TEXT NOT NULL,
          size INTEGER NOT NULL,
          modified INTEGER NOT NULL,  -- nanoseconds since 1970
          hash TEXT,                  -- FNV-1a, 64 bits, of files up to 64 KiB
          indexer TEXT,               -- who wrote the row
          pass INTEGER,               -- in which of its passes
          note TEXT                   -- only the sqlite3 shell writes here
        ) STRICT;
        CREATE INDEX file_kind ON file (kind, size);
        CREATE INDEX file_indexer ON file (indexer, pass);

        -- One row a transaction, written as its last statement: who, and when.
        CREATE TABLE commit_stamp (
          id INTEGER PRIMARY KEY,
          writer TEXT NOT NULL,
          time INTEGER NOT NULL  -- nanoseconds: CLOCK_MONOTONIC; of the shell, since 1970
        ) STRICT;

        -- What the sqlite3 shell did, written in the transactions in which it did it.
        CREATE TABLE shell_step (
          id INTEGER PRIMARY KEY,
          noted INTEGER NOT NULL,
          deleted INTEGER NOT NULL
        ) STRICT;
        """)
    }
  }

  /// How all roles open the database.
  static func configuration(label: String) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.label = label
    return configuration
  }
}

/// Where in the database's history a live value stands: the rows of `commit_stamp`.
struct CommitStamp: Hashable, Sendable {
  var id: Int64
  var writer: String
  var time: Int64
}
