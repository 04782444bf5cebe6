#include "CPlainSQLite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct plain_database {
  sqlite3 *connection;
  sqlite3_stmt *begin, *begin_read, *commit, *insert, *update, *delete, *by_key, *all;
};

static int prepare(struct plain_database *database, const char *sql, sqlite3_stmt **statement) {
  return sqlite3_prepare_v3(
      database->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/// Runs a statement that gives no rows.
static int run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  int reset = sqlite3_reset(statement);
  return code == SQLITE_DONE ? reset : code;
}

int plain_open(const char *path, int synchronous, struct plain_database **result) {
  struct plain_database *database = calloc(1, sizeof *database);
  if (!database) return SQLITE_NOMEM;
  *result = database;
  char pragma[64];
  snprintf(pragma, sizeof pragma, "PRAGMA synchronous = %d", synchronous);
  int code = sqlite3_open(path, &database->connection);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(database->connection, 10000);
  if (code == SQLITE_OK)
    code = sqlite3_exec(database->connection, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  if (code == SQLITE_OK) code = sqlite3_exec(database->connection, pragma, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_exec(
        database->connection,
        "CREATE TABLE IF NOT EXISTS items ("
        "id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, price REAL NOT NULL, "
        "count INTEGER NOT NULL)",
        NULL, NULL, NULL);
  struct {
    const char *sql;
    sqlite3_stmt **statement;
  } statements[] = {
      {"BEGIN IMMEDIATE", &database->begin},
      {"BEGIN", &database->begin_read},
      {"COMMIT", &database->commit},
      {"INSERT INTO items (id, name, note, price, count) VALUES (?, ?, ?, ?, ?)",
       &database->insert},
      {"UPDATE items SET note = ?, count = ? WHERE id = ?", &database->update},
      {"DELETE FROM items WHERE id = ?", &database->delete},
      {"SELECT id, name, note, price, count FROM items WHERE id = ?", &database->by_key},
      {"SELECT id, name, note, price, count FROM items ORDER BY id", &database->all},
  };
  for (size_t i = 0; code == SQLITE_OK && i < sizeof statements / sizeof *statements; i++)
    code = prepare(database, statements[i].sql, statements[i].statement);
  return code;
}

void plain_close(struct plain_database *database) {
  if (!database) return;
  sqlite3_stmt *statements[] = {
      database->begin,  database->begin_read, database->commit, database->insert,
      database->update, database->delete,     database->by_key, database->all};
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    sqlite3_finalize(statements[i]);
  sqlite3_close(database->connection);
  free(database);
}

/// Binds the row of a number; the texts are those of `BenchRow` in Swift.
static int bind_row(sqlite3_stmt *statement, int64_t number) {
  char name[64], note[96];
  int name_length = snprintf(name, sizeof name, "item %lld", (long long)number);
  int note_length =
      snprintf(note, sizeof note, "a note of ordinary length on %lld", (long long)number);
  sqlite3_bind_int64(statement, 1, number);
  sqlite3_bind_text(statement, 2, name, name_length, SQLITE_TRANSIENT);
  sqlite3_bind_text(statement, 3, note, note_length, SQLITE_TRANSIENT);
  sqlite3_bind_double(statement, 4, (double)number * 0.25);
  return sqlite3_bind_int64(statement, 5, number % 100);
}

int plain_insert_all(struct plain_database *database, int64_t first, int64_t count) {
  int code = run(database->begin);
  for (int64_t i = first; code == SQLITE_OK && i < first + count; i++) {
    bind_row(database->insert, i);
    code = run(database->insert);
  }
  return code == SQLITE_OK ? run(database->commit) : code;
}

int plain_insert_each(struct plain_database *database, int64_t first, int64_t count) {
  int code = SQLITE_OK;
  for (int64_t i = first; code == SQLITE_OK && i < first + count; i++)
    code = plain_insert_all(database, i, 1);
  return code;
}

int plain_update_all(struct plain_database *database, int64_t count) {
  int code = run(database->begin);
  for (int64_t i = 0; code == SQLITE_OK && i < count; i++) {
    char note[96];
    int length = snprintf(note, sizeof note, "another note on %lld", (long long)i);
    sqlite3_bind_text(database->update, 1, note, length, SQLITE_TRANSIENT);
    sqlite3_bind_int64(database->update, 2, i % 100 + 1);
    sqlite3_bind_int64(database->update, 3, i);
    code = run(database->update);
  }
  return code == SQLITE_OK ? run(database->commit) : code;
}

int plain_delete_all(struct plain_database *database, int64_t count) {
  int code = run(database->begin);
  for (int64_t i = 0; code == SQLITE_OK && i < count; i++) {
    sqlite3_bind_int64(database->delete, 1, i);
    code = run(database->delete);
  }
  return code == SQLITE_OK ? run(database->commit) : code;
}

/// Reads all columns of the present row.
static int64_t read_row(sqlite3_stmt *statement) {
  int64_t sum = sqlite3_column_int64(statement, 0);
  const unsigned char *name = sqlite3_column_text(statement, 1);
  sum += name[sqlite3_column_bytes(statement, 1) - 1];
  const unsigned char *note = sqlite3_column_text(statement, 2);
  sum += note[sqlite3_column_bytes(statement, 2) - 1];
  sum += (int64_t)sqlite3_column_double(statement, 3);
  return sum + sqlite3_column_int64(statement, 4);
}

int plain_read_all(struct plain_database *database, int64_t *sum) {
  int code;
  *sum = 0;
  while ((code = sqlite3_step(database->all)) == SQLITE_ROW) *sum += read_row(database->all);
  int reset = sqlite3_reset(database->all);
  return code == SQLITE_DONE ? reset : code;
}

/// Reads one row; a row that is not there adds nothing.
static int read_key(struct plain_database *database, int64_t key, int64_t *sum) {
  sqlite3_bind_int64(database->by_key, 1, key);
  int code = sqlite3_step(database->by_key);
  if (code == SQLITE_ROW) *sum += read_row(database->by_key);
  int reset = sqlite3_reset(database->by_key);
  return code == SQLITE_ROW || code == SQLITE_DONE ? reset : code;
}

int plain_read_keys_each(
    struct plain_database *database, int64_t count, int64_t rows, int64_t *sum) {
  int code = SQLITE_OK;
  *sum = 0;
  for (int64_t i = 0; code == SQLITE_OK && i < count; i++)
    code = read_key(database, i * 7919 % rows, sum);
  return code;
}

int plain_read_keys(struct plain_database *database, int64_t count, int64_t rows, int64_t *sum) {
  int code = run(database->begin_read);
  if (code == SQLITE_OK) code = plain_read_keys_each(database, count, rows, sum);
  return code == SQLITE_OK ? run(database->commit) : code;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int plain_open_and_read(const char *path, int64_t key, int64_t *nanoseconds) {
  int64_t begin = now();
  sqlite3 *connection = NULL;
  sqlite3_stmt *statement = NULL;
  int64_t sum = 0;
  int code = sqlite3_open(path, &connection);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(connection, 10000);
  if (code == SQLITE_OK)
    code = sqlite3_prepare_v2(
        connection, "SELECT id, name, note, price, count FROM items WHERE id = ?", -1, &statement,
        NULL);
  if (code == SQLITE_OK) {
    sqlite3_bind_int64(statement, 1, key);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) sum += read_row(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE) code = SQLITE_OK;
  }
  *nanoseconds = now() - begin + (sum == INT64_MIN);
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return code;
}
