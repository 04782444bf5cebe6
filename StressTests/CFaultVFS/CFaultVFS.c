// The file system that fails: the system's own one with the run's rules before each access.
//
// An access that no rule is for costs two loads of shared memory more. Locks are never made to fail: what
// the kernel has no reason to refuse, SQLite has no reason to expect. Nor are unlocks and closes.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static const char name[] = "boutique-fault";

static sqlite3_vfs *system_vfs;
static sqlite3_vfs own_vfs;
static char shadow_directory[1024];
static int notes_writes;

typedef struct {
  sqlite3_file base;
  // Which of `enum fault_file` it is.
  uint32_t kind;
  // Where its writes are noted, or NULL.
  fault_shadow *shadow;
} faulty_file;

// The system's own file lies behind ours.
static inline sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((faulty_file *)file + 1); }
static inline const sqlite3_io_methods *methods(sqlite3_file *file) { return real(file)->pMethods; }
static inline uint32_t kind(sqlite3_file *file) { return ((faulty_file *)file)->kind; }
static inline fault_shadow *shadow(sqlite3_file *file) { return ((faulty_file *)file)->shadow; }

// What every access begins with; whether it fails.
static int fails(uint32_t access, uint32_t file) {
  uint32_t armed = fault_armed();
  if (!armed) return 0;
  uint64_t microseconds;
  if ((armed & (1u << FAULT_RULE_KILL)) && fault_strikes(FAULT_RULE_KILL, access, file, NULL)) {
    kill(getpid(), SIGKILL);
  }
  if ((armed & (1u << FAULT_RULE_DELAY))
      && fault_strikes(FAULT_RULE_DELAY, access, file, &microseconds)) {
    fault_sleep(microseconds);
  }
  return (armed & (1u << FAULT_RULE_ERROR)) && fault_strikes(FAULT_RULE_ERROR, access, file, NULL);
}

// MARK: Files

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  if (fails(FAULT_READ, kind(file))) return SQLITE_IOERR_READ;
  return methods(file)->xRead(real(file), bytes, count, offset);
}

// Whether the file would grow beyond what it may, where a rule says so.
static int refuses_growth(sqlite3_file *file, int count, sqlite3_int64 offset) {
  uint32_t armed = fault_armed();
  const uint32_t rules = (1u << FAULT_RULE_FULL) | (1u << FAULT_RULE_FILE_SIZE);
  if (!(armed & rules)) return SQLITE_OK;
  // What is there already can be written over on a full disk.
  sqlite3_int64 size;
  if (methods(file)->xFileSize(real(file), &size) != SQLITE_OK || offset + count <= size) {
    return SQLITE_OK;
  }
  if (fault_strikes(FAULT_RULE_FULL, FAULT_WRITE, kind(file), NULL)) return SQLITE_FULL;
  // SQLite reports EFBIG as an error of writing; see seekAndWrite in os_unix.c.
  uint64_t limit = fault_parameter(FAULT_RULE_FILE_SIZE);
  if ((uint64_t)offset + (uint64_t)count <= limit >> 1
      || !fault_strikes(FAULT_RULE_FILE_SIZE, FAULT_WRITE, kind(file), NULL)) {
    return SQLITE_OK;
  }
  return limit & 1 ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

static int write_now(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  if (fails(FAULT_WRITE, kind(file))) return SQLITE_IOERR_WRITE;
  int refusal = refuses_growth(file, count, offset);
  if (refusal != SQLITE_OK) return refusal;
  uint64_t parameter;
  if ((fault_armed() & (1u << FAULT_RULE_SHORT_WRITE))
      && fault_strikes(FAULT_RULE_SHORT_WRITE, FAULT_WRITE, kind(file), &parameter)) {
    int part = (int)((parameter >> 1) % (uint64_t)count);
    if (part > 0) (void)methods(file)->xWrite(real(file), bytes, part, offset);
    return parameter & 1 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  return methods(file)->xWrite(real(file), bytes, count, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  if (!shadow(file)) return write_now(file, bytes, count, offset);
  if (fault_shadow_lock(shadow(file)) != 0) return SQLITE_IOERR_WRITE;
  int code = fault_shadow_note(shadow(file), offset, count);
  if (code == SQLITE_OK) code = write_now(file, bytes, count, offset);
  fault_shadow_unlock(shadow(file));
  return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  if (fails(FAULT_TRUNCATE, kind(file))) return SQLITE_IOERR_TRUNCATE;
  if (!shadow(file)) return methods(file)->xTruncate(real(file), size);
  if (fault_shadow_lock(shadow(file)) != 0) return SQLITE_IOERR_TRUNCATE;
  sqlite3_int64 former = size;
  (void)methods(file)->xFileSize(real(file), &former);
  int code = fault_shadow_note(shadow(file), size, former > size ? former - size : 0);
  if (code == SQLITE_OK) code = methods(file)->xTruncate(real(file), size);
  fault_shadow_unlock(shadow(file));
  return code;
}

static int sync_file(sqlite3_file *file, int flags) {
  if (fails(FAULT_SYNC, kind(file))) return SQLITE_IOERR_FSYNC;
  if ((fault_armed() & (1u << FAULT_RULE_SYNC))
      && fault_strikes(FAULT_RULE_SYNC, FAULT_SYNC, kind(file), NULL)) {
    // What was not synced stays so: the next sync may still succeed with it. (Linux is less kind: it
    // drops the pages that it could not write. No database can do anything about that.)
    return SQLITE_IOERR_FSYNC;
  }
  if (!shadow(file)) return methods(file)->xSync(real(file), flags);
  if (fault_shadow_lock(shadow(file)) != 0) return SQLITE_IOERR_FSYNC;
  int code = fault_shadow_carry(shadow(file), real(file));
  fault_shadow_unlock(shadow(file));
  return code == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int close_file(sqlite3_file *file) {
  if (shadow(file)) fault_shadow_close(shadow(file));
  ((faulty_file *)file)->shadow = NULL;
  int code = methods(file)->xClose(real(file));
  file->pMethods = NULL;
  return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return methods(file)->xFileSize(real(file), size);
}
static int lock_file(sqlite3_file *file, int level) { return methods(file)->xLock(real(file), level); }
static int unlock_file(sqlite3_file *file, int level) {
  return methods(file)->xUnlock(real(file), level);
}
static int is_reserved(sqlite3_file *file, int *result) {
  return methods(file)->xCheckReservedLock(real(file), result);
}
static int control_file(sqlite3_file *file, int operation, void *argument) {
  return methods(file)->xFileControl(real(file), operation, argument);
}
static int sector_size(sqlite3_file *file) { return methods(file)->xSectorSize(real(file)); }
static int characteristics(sqlite3_file *file) {
  return methods(file)->xDeviceCharacteristics(real(file));
}

// MARK: Shared memory

static int map_shared(sqlite3_file *file, int region, int size, int extends, void volatile **place) {
  if (fails(FAULT_SHARED_MEMORY, kind(file))) {
    *place = NULL;
    return SQLITE_IOERR_SHMMAP;
  }
  if (extends && (fault_armed() & (1u << FAULT_RULE_FULL))) {
    int code = methods(file)->xShmMap(real(file), region, size, 0, place);
    if (code != SQLITE_OK || *place) return code;
    if (fault_strikes(FAULT_RULE_FULL, FAULT_WRITE, FAULT_OTHER, NULL)) return SQLITE_IOERR_SHMSIZE;
  }
  return methods(file)->xShmMap(real(file), region, size, extends, place);
}
static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
  return methods(file)->xShmLock(real(file), offset, count, flags);
}
static void order_shared(sqlite3_file *file) { methods(file)->xShmBarrier(real(file)); }
static int unmap_shared(sqlite3_file *file, int removes) {
  return methods(file)->xShmUnmap(real(file), removes);
}
static int fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **place) {
  return methods(file)->xFetch(real(file), offset, count, place);
}
static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *place) {
  return methods(file)->xUnfetch(real(file), offset, place);
}

static const sqlite3_io_methods own_methods = {
  3, close_file, read_file, write_file, truncate_file, sync_file, file_size, lock_file, unlock_file,
  is_reserved, control_file, sector_size, characteristics, map_shared, lock_shared, order_shared,
  unmap_shared, fetch, unfetch};

// MARK: The file system

static int open_file(
  sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *outcome) {
  (void)vfs;
  faulty_file *own = (faulty_file *)file;
  own->base.pMethods = NULL;
  own->shadow = NULL;
  own->kind = flags & SQLITE_OPEN_MAIN_DB ? FAULT_DATABASE : flags & SQLITE_OPEN_WAL ? FAULT_LOG : FAULT_OTHER;
  if (fails(FAULT_OPEN, own->kind)) return SQLITE_CANTOPEN;
  int code = system_vfs->xOpen(system_vfs, path, real(file), flags, outcome);
  if (code != SQLITE_OK) {
    // The system's file may have methods all the same, and is then to be closed.
    if (methods(file)) (void)methods(file)->xClose(real(file));
    return code;
  }
  if (notes_writes && path && own->kind != FAULT_OTHER) {
    own->shadow = fault_shadow_open(shadow_directory, path, real(file));
    if (!own->shadow) {
      (void)methods(file)->xClose(real(file));
      return SQLITE_CANTOPEN;
    }
  }
  own->base.pMethods = &own_methods;
  return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs) {
  (void)vfs;
  size_t length = strlen(path);
  uint32_t file = length > 4 && strcmp(path + length - 4, "-wal") == 0 ? FAULT_LOG : FAULT_OTHER;
  if (fails(FAULT_TRUNCATE, file)) return SQLITE_IOERR_DELETE;
  fault_shadow *notes =
    notes_writes && file == FAULT_LOG ? fault_shadow_open(shadow_directory, path, NULL) : NULL;
  if (!notes) return system_vfs->xDelete(system_vfs, path, syncs);
  // A file that is gone is one without a byte: until its directory is synced its bytes can come back.
  int code = fault_shadow_lock(notes) == 0 ? fault_shadow_note(notes, 0, INT64_MAX / 2)
                                           : SQLITE_IOERR_DELETE;
  if (code == SQLITE_OK) code = system_vfs->xDelete(system_vfs, path, syncs);
  fault_shadow_unlock(notes);
  fault_shadow_close(notes);
  return code;
}

int fault_process_install(fault_control *control, int slot, const char *directory, int is_default) {
  if (strlen(directory) >= sizeof(shadow_directory)) return SQLITE_ERROR;
  system_vfs = sqlite3_vfs_find("unix");
  if (!system_vfs) return SQLITE_ERROR;
  strcpy(shadow_directory, directory);
  notes_writes = control->notes_writes;
  fault_own_slot = slot;
  atomic_store(&fault_own_control, control);
  own_vfs = *system_vfs;
  own_vfs.pNext = NULL;
  own_vfs.zName = name;
  own_vfs.szOsFile = (int)sizeof(faulty_file) + system_vfs->szOsFile;
  own_vfs.xOpen = open_file;
  own_vfs.xDelete = delete_file;
  return sqlite3_vfs_register(&own_vfs, is_default);
}

// MARK: Trying it out

struct fault_connection {
  sqlite3 *database;
};

int fault_connection_open(const char *path, fault_connection **connection) {
  fault_connection *made = calloc(1, sizeof(fault_connection));
  if (!made) return SQLITE_NOMEM;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE;
  int code = sqlite3_open_v2(path, &made->database, flags, name);
  if (code != SQLITE_OK) {
    sqlite3_close(made->database);
    free(made);
    return code;
  }
  *connection = made;
  return SQLITE_OK;
}

static int take_value(void *place, int count, char **values, char **names) {
  (void)names;
  if (count > 0 && values[0]) *(int64_t *)place = strtoll(values[0], NULL, 10);
  return 0;
}

int fault_connection_run(fault_connection *connection, const char *sql, int64_t *value) {
  return sqlite3_exec(connection->database, sql, take_value, value, NULL);
}

void fault_connection_close(fault_connection *connection) {
  sqlite3_close(connection->database);
  free(connection);
}
