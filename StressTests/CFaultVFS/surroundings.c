// What the leading process does to others and to their surroundings, where it takes C to say it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

int fault_limit_set(int process, int resource, uint64_t limit, uint64_t *former) {
  struct rlimit had;
  if (prlimit(process, resource, NULL, &had) != 0) return errno;
  if (former) *former = had.rlim_cur;
  // The hard limit stays, so that the soft one can go back.
  struct rlimit wanted = {.rlim_cur = limit < had.rlim_max ? limit : had.rlim_max, .rlim_max = had.rlim_max};
  return prlimit(process, resource, &wanted, NULL) == 0 ? 0 : errno;
}

int fault_mount(const char *directory, const char *name, uint64_t bytes, int is_change) {
  char options[64];
  snprintf(options, sizeof(options), "size=%llu,mode=0700", (unsigned long long)bytes);
  return mount(name, directory, "tmpfs", is_change ? MS_REMOUNT : 0, options) == 0 ? 0 : errno;
}

int fault_unmount(const char *directory) { return umount2(directory, MNT_DETACH) == 0 ? 0 : errno; }

// MARK: The log's end

// The byte of the log's index that a writer locks, and the head of the index (SQLite, "WAL-mode File Format",
// section 2): whether it is initialised, the size of a page, the number of valid frames.
enum { write_lock = 120, is_initialised = 12, page_size = 14, last_frame = 16, frame_head = 24, log_head = 32 };

static uint32_t number(const unsigned char *bytes) {
  uint32_t value;
  memcpy(&value, bytes, 4);
  return value;
}

static int64_t write_behind(int log, const unsigned char *index, uint64_t seed) {
  uint16_t stored;
  memcpy(&stored, index + page_size, 2);
  int64_t size = stored == 1 ? 65536 : stored;
  uint32_t frames = number(index + last_frame);
  if (!index[is_initialised] || size < 512) return 0;
  int64_t end = frames == 0 ? log_head : log_head + (int64_t)frames * (frame_head + size);
  struct stat facts;
  // An empty log has no head yet; what a crash leaves there is a head and frames that belong to nothing.
  if (fstat(log, &facts) != 0 || facts.st_size < end) return 0;
  int64_t length = 1 + (int64_t)(fault_random(&seed) % (uint64_t)(3 * (frame_head + size)));
  unsigned char *bytes = malloc((size_t)length);
  if (!bytes) return -ENOMEM;
  if (fault_random(&seed) % 2 && frames > 0) {
    // Frames that were valid once, in the wrong place: what a writer that was killed had begun.
    ssize_t count = pread(log, bytes, (size_t)length, log_head);
    if (count < length) memset(bytes + (count < 0 ? 0 : count), 0, (size_t)(length - (count < 0 ? 0 : count)));
  } else {
    for (int64_t i = 0; i < length; i++) bytes[i] = (unsigned char)fault_random(&seed);
  }
  ssize_t written = pwrite(log, bytes, (size_t)length, end);
  int64_t result = written < 0 ? -errno : written;
  free(bytes);
  return result;
}

int64_t fault_log_tamper(const char *database, uint64_t seed) {
  char path[4096];
  snprintf(path, sizeof(path), "%s-shm", database);
  int shared = open(path, O_RDWR | O_CLOEXEC);
  if (shared < 0) return errno == ENOENT ? 0 : -errno;
  snprintf(path, sizeof(path), "%s-wal", database);
  int log = open(path, O_RDWR | O_CLOEXEC);
  int64_t result = 0;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = write_lock, .l_len = 1};
  // SQLite's writers lock the same byte, whatever they write: with it nobody appends, starts the log anew or
  // recovers it.
  for (int i = 0; log >= 0 && i < 500; i++) {
    if (fcntl(shared, F_OFD_SETLK, &lock) == 0) {
      unsigned char index[48];
      if (pread(shared, index, sizeof(index), 0) == sizeof(index)) {
        result = write_behind(log, index, seed);
      }
      break;
    }
    fault_sleep(1000);
  }
  if (log >= 0) close(log);
  close(shared);
  return result;
}
