// SQLite's C API, with what Swift cannot call by itself: variadic functions, the destructor
// constants, and memory that other processes write while we read it.
#ifndef BOUTIQUE_CSQLITE_SHIMS_H
#define BOUTIQUE_CSQLITE_SHIMS_H

// The preupdate hook is declared only with this; Debian's library is built with it.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

// `sqlite3_db_config` with the (int, int *) pair that all on/off settings take. `value` below
// zero asks only. Returns the setting afterwards (0 or 1), or -1 when the library refuses it.
static inline int boutique_sqlite_setting(sqlite3 *db, int setting, int value) {
  int now = -1;
  if (sqlite3_db_config(db, setting, value, &now) != SQLITE_OK) return -1;
  return now;
}

static inline int boutique_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
  return sqlite3_bind_text64(
      statement, index, count == 0 ? "" : (const char *)bytes, count, SQLITE_TRANSIENT,
      SQLITE_UTF8);
}

// A null pointer would bind NULL, so an empty blob is bound as a zero-blob.
static inline int boutique_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Binds the first `count` parameters. Each is three words: its storage class, its bits or where in `bytes` its
// bytes begin, and how many these are. They are not copied: they stay as they are until the bindings are cleared.
static inline int boutique_sqlite_bind_words(
    sqlite3_stmt *statement, int count, const uint64_t *words, const char *bytes, int *index) {
  int code = SQLITE_OK;
  for (*index = 1; *index <= count; ++*index, words += 3) {
    switch (words[0]) {
      case SQLITE_INTEGER:
        code = sqlite3_bind_int64(statement, *index, (sqlite3_int64)words[1]);
        break;
      case SQLITE_FLOAT: {
        double number;
        memcpy(&number, &words[1], sizeof number);
        code = sqlite3_bind_double(statement, *index, number);
        break;
      }
      case SQLITE_TEXT:
        code = sqlite3_bind_text64(
            statement, *index, words[2] == 0 ? "" : bytes + words[1], words[2], SQLITE_STATIC,
            SQLITE_UTF8);
        break;
      case SQLITE_BLOB:
        // As above, no bytes are no NULL.
        code = words[2] == 0
                   ? sqlite3_bind_zeroblob(statement, *index, 0)
                   : sqlite3_bind_blob64(
                         statement, *index, bytes + words[1], words[2], SQLITE_STATIC);
        break;
      default: code = sqlite3_bind_null(statement, *index); break;
    }
    if (code != SQLITE_OK) return code;
  }
  return code;
}

// Writes a row: the number of columns, then for each its storage class, its bits or the address of its bytes,
// and its length in bytes.
//
// Each column is looked up once. Its value is an unprotected one, which makes no difference on connections without
// a mutex, as all of ours are (SQLite, "Dynamically Typed Value Object").
static inline void boutique_sqlite_read_row(sqlite3_stmt *statement, int count, uint64_t *words) {
  *words++ = (uint64_t)count;
  for (int i = 0; i < count; i++, words += 3) {
    sqlite3_value *value = sqlite3_column_value(statement, i);
    int type = sqlite3_value_type(value);
    words[0] = (uint64_t)type;
    switch (type) {
      case SQLITE_INTEGER: words[1] = (uint64_t)sqlite3_value_int64(value); break;
      case SQLITE_FLOAT: {
        double number = sqlite3_value_double(value);
        memcpy(&words[1], &number, sizeof number);
        break;
      }
      case SQLITE_TEXT:
        // The address is asked for before the length: a conversion changes the length.
        words[1] = (uint64_t)(uintptr_t)sqlite3_value_text(value);
        words[2] = words[1] ? (uint64_t)sqlite3_value_bytes(value) : 0;
        break;
      case SQLITE_BLOB:
        words[1] = (uint64_t)(uintptr_t)sqlite3_value_blob(value);
        words[2] = words[1] ? (uint64_t)sqlite3_value_bytes(value) : 0;
        break;
      default: break;
    }
  }
}

static inline void boutique_sqlite_result_text(
    sqlite3_context *context, const void *bytes, uint64_t count) {
  sqlite3_result_text64(
      context, count == 0 ? "" : (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void boutique_sqlite_result_blob(
    sqlite3_context *context, const void *bytes, uint64_t count) {
  if (count == 0) {
    sqlite3_result_zeroblob(context, 0);
  } else {
    sqlite3_result_blob64(context, bytes, count, SQLITE_TRANSIENT);
  }
}

// The file that SQLite would use as journal now: its rollback journal's, or the log's once the
// log is open. Only the address is of use: it changes exactly when a log is opened or closed.
static inline void *boutique_sqlite_journal_file(sqlite3 *db) {
  void *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return 0;
  return file;
}

// The size of the write-ahead log, by SQLite's own descriptor of it; -1 when the log is not open or cannot tell.
// `rollbackJournal` as for boutique_sqlite_wal_index_region.
static inline int64_t boutique_sqlite_log_size(sqlite3 *db, const void *rollbackJournal) {
  sqlite3_file *log = (sqlite3_file *)boutique_sqlite_journal_file(db);
  if (log == 0 || log == rollbackJournal || log->pMethods == 0) return -1;
  sqlite3_int64 size = 0;
  return log->pMethods->xFileSize(log, &size) == SQLITE_OK ? size : -1;
}

// One copy of the WAL index header, 48 bytes in native byte order ("WAL-Index Header", SQLite,
// WAL-mode file format, section 2.1). Two copies open the index, the checkpoint information
// follows.
typedef struct boutique_sqlite_wal_index_copy {
  uint32_t version;  // 3007000
  uint32_t unused;
  uint32_t change;  // one more with every commit
  uint8_t isInitialized;
  uint8_t bigEndianChecksums;
  uint16_t pageSize;  // 1 means 65536
  uint32_t maxFrame;
  uint32_t pageCount;
  uint32_t frameChecksum[2];
  uint32_t salt[2];
  uint32_t checksum[2];  // of all that precedes
} boutique_sqlite_wal_index_copy;

_Static_assert(sizeof(boutique_sqlite_wal_index_copy) == 48, "WAL index header is 48 bytes");

typedef struct boutique_sqlite_wal_index {
  uint32_t change;
  uint32_t maxFrame;
  uint32_t pageSize;
  uint32_t pageCount;
  uint32_t salt1;
  uint32_t salt2;
  uint32_t backfilledFrames;
  uint32_t readMark0, readMark1, readMark2, readMark3, readMark4;
} boutique_sqlite_wal_index;

// Returns where the WAL index is in this process's memory, through the open file's own xShmMap: no
// descriptor, no lock, no allocation; or 0 when the log is not open.
//
// `rollbackJournal` is boutique_sqlite_journal_file() as it was before the first statement. While
// it is still that, the log is not open, and xShmMap would *create* an index file; then the
// answer is "nothing".
static inline const volatile void *boutique_sqlite_wal_index_region(
    sqlite3 *db, const void *rollbackJournal) {
  const void *journal = boutique_sqlite_journal_file(db);
  if (journal == 0 || journal == rollbackJournal) return 0;
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (file == 0 || file->pMethods == 0 || file->pMethods->iVersion < 2) return 0;
  if (file->pMethods->xShmMap == 0) return 0;
  void volatile *region = 0;
  // 32768: the size of one index page (WALINDEX_PGSZ in SQLite's wal.c).
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK) return 0;
  return region;
}

// Reads one whole copy of the header. A writer stores the second copy, a barrier, then the first; so
// the first is read first, and two equal copies with a right checksum are one commit's header.
//
// Returns 1 with `words` filled, or 0.
static inline int boutique_sqlite_wal_index_words(
    const volatile void *region, uint32_t words[12]) {
  const volatile uint32_t *shared = (const volatile uint32_t *)region;
  for (int attempt = 0; attempt < 8; attempt++) {
    union {
      uint32_t words[12];
      boutique_sqlite_wal_index_copy fields;
    } first, second;
    for (int i = 0; i < 12; i++) first.words[i] = shared[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (int i = 0; i < 12; i++) second.words[i] = shared[12 + i];
    if (memcmp(&first, &second, sizeof first) != 0) continue;
    if (first.fields.isInitialized == 0 || first.fields.version != 3007000) return 0;
    uint32_t s1 = 0, s2 = 0;
    for (int i = 0; i < 10; i += 2) {
      s1 += first.words[i] + s2;
      s2 += first.words[i + 1] + s1;
    }
    if (s1 != first.fields.checksum[0] || s2 != first.fields.checksum[1]) continue;
    memcpy(words, first.words, sizeof first.words);
    return 1;
  }
  return 0;
}

// Reads the WAL index header of a connection.
//
// Returns 1 with `out` filled, or 0.
static inline int boutique_sqlite_read_wal_index(
    sqlite3 *db, const void *rollbackJournal, boutique_sqlite_wal_index *out) {
  const volatile void *region = boutique_sqlite_wal_index_region(db, rollbackJournal);
  if (region == 0) return 0;
  union {
    uint32_t words[12];
    boutique_sqlite_wal_index_copy fields;
  } copy;
  if (boutique_sqlite_wal_index_words(region, copy.words) == 0) return 0;
  const volatile uint32_t *words = (const volatile uint32_t *)region;
  uint32_t pageSize = copy.fields.pageSize;
  out->change = copy.fields.change;
  out->maxFrame = copy.fields.maxFrame;
  out->pageSize = (pageSize & 0xfe00) + ((pageSize & 1) << 16);
  out->pageCount = copy.fields.pageCount;
  out->salt1 = copy.fields.salt[0];
  out->salt2 = copy.fields.salt[1];
  out->backfilledFrames = words[24];
  out->readMark0 = words[25];
  out->readMark1 = words[26];
  out->readMark2 = words[27];
  out->readMark3 = words[28];
  out->readMark4 = words[29];
  return 1;
}

// What tells one commit from every other: the change counter, where the log ends, the running
// checksum of its frames, its salts.
typedef struct boutique_sqlite_commit_mark {
  uint64_t words[4];
} boutique_sqlite_commit_mark;

// Reads the mark of the newest commit from where boutique_sqlite_wal_index_region() said. For any
// thread, as long as a connection of this process has the log open: SQLite keeps the mapping at its
// place until the last one of them closes.
//
// Returns 1 with `out` filled, or 0.
static inline int boutique_sqlite_read_commit_mark(
    const volatile void *region, boutique_sqlite_commit_mark *out) {
  uint32_t words[12];
  if (boutique_sqlite_wal_index_words(region, words) == 0) return 0;
  // Between the version and the header's own checksum.
  memcpy(out->words, words + 2, sizeof out->words);
  return 1;
}

// Whether two values are of one type and of the same bytes; nothing is converted or allocated
// (text of a UTF-16 database excepted).
static inline int boutique_sqlite_values_equal(sqlite3_value *a, sqlite3_value *b) {
  int type = sqlite3_value_type(a);
  if (type != sqlite3_value_type(b)) return 0;
  switch (type) {
    case SQLITE_NULL: return 1;
    case SQLITE_INTEGER: return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    case SQLITE_FLOAT: {
      double x = sqlite3_value_double(a), y = sqlite3_value_double(b);
      return memcmp(&x, &y, sizeof x) == 0;
    }
    default: {
      const int isText = type == SQLITE_TEXT;
      const void *x = isText ? (const void *)sqlite3_value_text(a) : sqlite3_value_blob(a);
      const void *y = isText ? (const void *)sqlite3_value_text(b) : sqlite3_value_blob(b);
      int count = sqlite3_value_bytes(a);
      if (count != sqlite3_value_bytes(b)) return 0;
      if (count == 0) return 1;
      return x != 0 && y != 0 && memcmp(x, y, (size_t)count) == 0;
    }
  }
}

#endif
