// What a power cut would take: notes of what has been written and not synced, shared by all processes.
//
// For each database and each log there are two files in the run's directory of shadows:
//   HASH.notes    4096 bytes of head with the file's path, then 16 bytes (offset, length) for each change
//   HASH.durable  the file as the disk has it for certain
//
// Invariants
//  1. Who changes the file or carries over has the lock of the notes (an open file description's, fcntl(2):
//     it goes with a killed process). So a sync carries over exactly the changes that were complete before it,
//     whoever made them, as fsync(2) does.
//  2. A range is noted before it is changed: what a killed process has changed is noted.
//  3. The notes go when the durable file has what they stand for. Who is killed in between leaves a durable
//     file that is ahead of what was promised, which a disk may be.
//
// A change of the file's length is noted as a change of the bytes that it takes away or adds.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "shadow.h"

static int lock(int fd, short type) {
  struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
  int result;
  do result = fcntl(fd, F_OFD_SETLKW, &whole);
  while (result != 0 && errno == EINTR);
  return result;
}

int fault_shadow_lock(fault_shadow *shadow) { return lock(shadow->notes, F_WRLCK); }
void fault_shadow_unlock(fault_shadow *shadow) { (void)lock(shadow->notes, F_UNLCK); }

int64_t fault_size_of(int fd) {
  struct stat facts;
  return fd >= 0 && fstat(fd, &facts) == 0 ? facts.st_size : 0;
}

// Copies a range as far as the file has it, through SQLite's own file: closing another descriptor of a
// database would drop all locks of the process's connections to it (fcntl(2)).
static int copy(sqlite3_file *file, int to, int64_t offset, int64_t length) {
  sqlite3_int64 size;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
  // Not by a sum: a note of "all of it" is longer than can be added.
  if (offset >= size) return 0;
  if (length > size - offset) length = size - offset;
  char buffer[65536];
  while (length > 0) {
    int count = length < (int64_t)sizeof(buffer) ? (int)length : (int)sizeof(buffer);
    // Nobody shortens the file: that takes the lock of the notes.
    if (file->pMethods->xRead(file, buffer, count, offset) != SQLITE_OK) return -1;
    for (int written = 0; written < count;) {
      ssize_t part = pwrite(to, buffer + written, (size_t)(count - written), offset + written);
      if (part < 0 && errno == EINTR) continue;
      if (part <= 0) return -1;
      written += (int)part;
    }
    offset += count;
    length -= count;
  }
  return 0;
}

// The first to open a file takes it, as it is, for durable. With the lock.
static int begin(fault_shadow *shadow, const char *path, sqlite3_file *file) {
  if (fault_size_of(shadow->notes) >= FAULT_NOTES_HEAD) return 0;
  if (ftruncate(shadow->durable, 0) != 0) return -1;
  if (file && copy(file, shadow->durable, 0, INT64_MAX) != 0) return -1;
  char head[FAULT_NOTES_HEAD] = {0};
  if (strlen(path) >= sizeof(head)) return -1;
  strcpy(head, path);
  return pwrite(shadow->notes, head, sizeof(head), 0) == sizeof(head) ? 0 : -1;
}

fault_shadow *fault_shadow_open_pair(const char *notes, const char *durable) {
  fault_shadow *shadow = calloc(1, sizeof(fault_shadow));
  if (!shadow) return NULL;
  shadow->notes = open(notes, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  shadow->durable = open(durable, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (shadow->notes >= 0 && shadow->durable >= 0) return shadow;
  fault_shadow_close(shadow);
  return NULL;
}

fault_shadow *fault_shadow_open(const char *directory, const char *path, sqlite3_file *file) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = path; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  char notes[2048], durable[2048];
  snprintf(notes, sizeof(notes), "%s/%016llx.notes", directory, (unsigned long long)hash);
  snprintf(durable, sizeof(durable), "%s/%016llx.durable", directory, (unsigned long long)hash);
  fault_shadow *shadow = fault_shadow_open_pair(notes, durable);
  if (!shadow) return NULL;
  if (fault_shadow_lock(shadow) != 0 || begin(shadow, path, file) != 0) {
    fault_shadow_close(shadow);
    return NULL;
  }
  fault_shadow_unlock(shadow);
  return shadow;
}

void fault_shadow_close(fault_shadow *shadow) {
  if (shadow->notes >= 0) close(shadow->notes);
  if (shadow->durable >= 0) close(shadow->durable);
  free(shadow);
}

int fault_shadow_note(fault_shadow *shadow, int64_t offset, int64_t length) {
  int64_t size = fault_size_of(shadow->notes);
  // Behind whole notes: one that was cut off by a kill is of a change that was not made.
  int64_t place = FAULT_NOTES_HEAD + (size - FAULT_NOTES_HEAD) / 16 * 16;
  int64_t note[2] = {offset, length};
  return pwrite(shadow->notes, note, 16, place) == 16 ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

int fault_shadow_notes(fault_shadow *shadow, int64_t (**notes)[2], int64_t *count) {
  *count = (fault_size_of(shadow->notes) - FAULT_NOTES_HEAD) / 16;
  *notes = NULL;
  if (*count <= 0) return *count = 0;
  *notes = malloc((size_t)*count * 16);
  if (!*notes) return -1;
  ssize_t length = (ssize_t)*count * 16;
  if (pread(shadow->notes, *notes, (size_t)length, FAULT_NOTES_HEAD) == length) return 0;
  free(*notes);
  *notes = NULL;
  return -1;
}

int fault_shadow_carry(fault_shadow *shadow, sqlite3_file *file) {
  int64_t(*notes)[2];
  int64_t count;
  if (fault_shadow_notes(shadow, &notes, &count) != 0) return -1;
  if (count == 0) return 0;
  int code = 0;
  for (int64_t i = 0; i < count && code == 0; i++) {
    code = copy(file, shadow->durable, notes[i][0], notes[i][1]);
  }
  free(notes);
  sqlite3_int64 size;
  if (code == 0 && file->pMethods->xFileSize(file, &size) != SQLITE_OK) code = -1;
  if (code == 0) code = ftruncate(shadow->durable, size);
  return code == 0 ? ftruncate(shadow->notes, FAULT_NOTES_HEAD) : code;
}
