// The power cut: what the disk has afterwards.
//
// What is assumed of the disk is what SQLite assumes, no less and no more:
//  1. What was synced is there (fsync means it).
//  2. Of what was written since, any part may be there, in any order, by sectors of 512 bytes: "Atomic Commit In
//     SQLite", sections 2 and 9.
//  3. A sector that was being written has new bytes up to some place and old ones behind it, or the other way
//     round; SQLite assumes that a sector is written linearly, not that it is written as a whole (the same
//     document, section 2).
//  4. Bytes that were not written are not damaged, also beside written ones: "Powersafe Overwrite", which
//     SQLite's unix file system takes for given.
//  5. A file may have grown before the bytes behind its former end came: they are then zero, or anything at all
//     (Atomic Commit, section 2: the size is updated before the content).
//  6. The directory is in order: no file has another's name. A log that was deleted may be back.
// What others have written without this file system (foreign programs) counts as synced.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "shadow.h"

enum { sector = 512 };

typedef struct {
  unsigned char *bytes;
  int64_t size;
} content;

typedef struct {
  uint64_t random;
  // In percent: how likely a written sector has reached the disk.
  int arrives;
  // In percent: how likely one that has is torn.
  int tears;
  // Whether what never reached a file's new part is anything at all instead of zeros.
  int is_garbage;
  int64_t lost, torn, noted;
} cut;

static int percent(cut *cut) { return (int)(fault_random(&cut->random) % 100); }

static int load(int fd, content *content, int64_t room) {
  content->size = fault_size_of(fd);
  content->bytes = calloc(1, (size_t)(room > content->size ? room : content->size) + sector);
  if (!content->bytes) return ENOMEM;
  for (int64_t place = 0; place < content->size;) {
    ssize_t count = pread(fd, content->bytes + place, (size_t)(content->size - place), place);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? EIO : errno;
    place += count;
  }
  return 0;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// What of one written sector is on the disk. `file` becomes it; `durable` is what was there for certain.
static void strike_sector(cut *cut, content *file, const content *durable, int64_t place, int64_t end) {
  int64_t length = least(sector, end - place);
  unsigned char old[sector];
  for (int64_t i = 0; i < length; i++) {
    old[i] = place + i < durable->size ? durable->bytes[place + i]
      : cut->is_garbage ? (unsigned char)fault_random(&cut->random) : 0;
  }
  unsigned char *now = file->bytes + place;
  if (percent(cut) >= cut->arrives) {
    if (memcmp(now, old, (size_t)length) != 0) cut->lost++;
    memcpy(now, old, (size_t)length);
  } else if (percent(cut) < cut->tears) {
    int64_t part = (int64_t)(fault_random(&cut->random) % (uint64_t)length);
    cut->torn++;
    if (fault_random(&cut->random) & 1) memcpy(now, old, (size_t)part);
    else memcpy(now + part, old + part, (size_t)(length - part));
  }
}

// How long the file is: as it was, as it had become, or, while it grew, anything between.
static int64_t length_after(cut *cut, int64_t now, int64_t durable) {
  if (cut->arrives == 100) return now;
  if (cut->arrives == 0) return durable;
  switch (fault_random(&cut->random) % 4) {
  case 0: return durable;
  case 1:
    if (now > durable) {
      int64_t sectors = (now - durable) / sector + 1;
      return least(now, durable + (int64_t)(fault_random(&cut->random) % (uint64_t)sectors) * sector);
    }
    return now;
  default: return now;
  }
}

static void strike_ranges(
  cut *cut, content *file, const content *durable, int64_t (*notes)[2], int64_t count) {
  int64_t end = most(file->size, durable->size);
  unsigned char *is_noted = calloc(1, (size_t)(end / sector) + 1);
  if (!is_noted) return;
  for (int64_t i = 0; i < count; i++) {
    int64_t from = notes[i][0];
    int64_t length = least(notes[i][1], end - from);
    for (int64_t s = from / sector; length > 0 && s <= (from + length - 1) / sector; s++) {
      is_noted[s] = 1;
    }
  }
  for (int64_t s = 0; s * sector < end; s++) {
    if (!is_noted[s]) continue;
    cut->noted++;
    strike_sector(cut, file, durable, s * sector, end);
  }
  free(is_noted);
}

// Writes only what has changed: a file that lost nothing keeps its time of change.
static int store(int fd, const unsigned char *bytes, int64_t size, const unsigned char *former, int64_t had) {
  for (int64_t place = 0; place < size;) {
    int64_t length = least(sector, size - place);
    if (place + length > had || memcmp(bytes + place, former + place, (size_t)length) != 0) {
      if (pwrite(fd, bytes + place, (size_t)length, place) != length) return errno ? errno : EIO;
    }
    place += length;
  }
  return size != had && ftruncate(fd, size) != 0 ? errno : 0;
}

static int cut_file(fault_shadow *shadow, const char *path, cut *cut) {
  int64_t(*notes)[2];
  int64_t count;
  if (fault_shadow_notes(shadow, &notes, &count) != 0) return EIO;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  content file = {0}, former = {0}, durable = {0};
  int64_t room = most(fault_size_of(fd), fault_size_of(shadow->durable));
  int code = load(fd, &former, room);
  if (code == 0) code = load(fd, &file, room);
  if (code == 0) code = load(shadow->durable, &durable, room);
  if (code == 0 && count > 0) {
    // A moment of its own for each file: how much of it had gone to the disk.
    static const int chances[] = {0, 10, 50, 50, 90, 100};
    cut->arrives = chances[fault_random(&cut->random) % 6];
    cut->tears = fault_random(&cut->random) % 2 ? 0 : 5;
    cut->is_garbage = fault_random(&cut->random) % 3 == 0;
    if (cut->arrives == 100) cut->tears = 0;
    strike_ranges(cut, &file, &durable, notes, count);
    int64_t length = length_after(cut, file.size, durable.size);
    // Where the shortening of a file has not reached the disk, the bytes have their former place and value.
    if (length > file.size) {
      memcpy(file.bytes + file.size, durable.bytes + file.size, (size_t)(length - file.size));
    }
    if (fd < 0 && length > 0) {
      fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0) code = errno;
    }
    if (code == 0 && fd >= 0) code = store(fd, file.bytes, length, former.bytes, former.size);
    file.size = length;
  }
  // From now on this is what the disk has.
  if (code == 0) code = store(shadow->durable, file.bytes, file.size, durable.bytes, durable.size);
  if (code == 0 && ftruncate(shadow->notes, FAULT_NOTES_HEAD) != 0) code = errno;
  if (fd >= 0) close(fd);
  free(file.bytes);
  free(former.bytes);
  free(durable.bytes);
  free(notes);
  return code;
}

int fault_power_cut(const char *directory, uint64_t seed, char *text, int size) {
  text[0] = 0;
  struct dirent **entries;
  // In the order of their names, so that a seed does the same each time.
  int count = scandir(directory, &entries, NULL, alphasort);
  if (count < 0) return errno;
  int code = 0;
  for (int i = 0; i < count; i++) {
    char notes[2048], durable[2048], path[FAULT_NOTES_HEAD];
    size_t length = strlen(entries[i]->d_name);
    if (code == 0 && length > 6 && strcmp(entries[i]->d_name + length - 6, ".notes") == 0) {
      snprintf(notes, sizeof(notes), "%s/%s", directory, entries[i]->d_name);
      snprintf(
        durable, sizeof(durable), "%s/%.*s.durable", directory, (int)length - 6, entries[i]->d_name);
      fault_shadow *shadow = fault_shadow_open_pair(notes, durable);
      if (!shadow) {
        code = errno;
      } else if (pread(shadow->notes, path, sizeof(path), 0) == sizeof(path) && path[0]) {
        path[sizeof(path) - 1] = 0;
        cut one = {.random = seed ^ (uint64_t)i};
        code = cut_file(shadow, path, &one);
        const char *slash = strrchr(path, '/');
        int used = (int)strlen(text);
        snprintf(
          text + used, (size_t)(size - used), "%s%s: %lld of %lld unsynced sectors lost, %lld torn",
          used ? "; " : "", slash ? slash + 1 : path, (long long)one.lost, (long long)one.noted,
          (long long)one.torn);
      }
      if (shadow) fault_shadow_close(shadow);
    }
    free(entries[i]);
  }
  free(entries);
  return code;
}
