/// What a program in plain C does with libsqlite3: the measure that the library's speed is compared with.
///
/// Every function returns an SQLite result code, 0 when all went well. The rows are those of the `rows`
/// benchmark: an integer key, two texts, a real, an integer. Statements are prepared once and bound anew.
#ifndef CPLAINSQLITE_H
#define CPLAINSQLITE_H

#include <stdint.h>

struct plain_database;

/// Opens the file in WAL mode, with a table `items` when it has none; synchronous is 1 (normal) or 2 (full).
int plain_open(const char *path, int synchronous, struct plain_database **database);
void plain_close(struct plain_database *database);

/// Inserts rows first..<first+count, all in one transaction.
int plain_insert_all(struct plain_database *database, int64_t first, int64_t count);
/// Changes one text and the integer of each row by its key, all in one transaction.
int plain_update_all(struct plain_database *database, int64_t count);
/// Deletes each row by its key, all in one transaction.
int plain_delete_all(struct plain_database *database, int64_t count);
/// Inserts rows, each in a transaction of its own.
int plain_insert_each(struct plain_database *database, int64_t first, int64_t count);

/// Reads every column of every row; the sum depends on all of them.
int plain_read_all(struct plain_database *database, int64_t *sum);
/// Reads whole rows by their keys, key * 7919 % rows, in one transaction.
int plain_read_keys(struct plain_database *database, int64_t count, int64_t rows, int64_t *sum);
/// The same, each in a transaction of its own.
int plain_read_keys_each(struct plain_database *database, int64_t count, int64_t rows, int64_t *sum);

/// Opens the file, reads one row by its key, and closes it again; tells the time until the row was there.
int plain_open_and_read(const char *path, int64_t key, int64_t *nanoseconds);

#endif
