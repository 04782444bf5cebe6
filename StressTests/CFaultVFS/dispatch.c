// What Dispatch needs so as not to end the process.
//
// On Linux, Dispatch looks once a second which of its threads are running, in /proc, and ends the process
// with an illegal instruction when it cannot open the file. A process at its limit of descriptors would die of
// that before anything of the library's were tried, so this program keeps one descriptor for it in reserve.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

static atomic_int reserve = -1;
static atomic_bool is_kept;

void fault_reserve_descriptor(void) {
  is_kept = true;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
  int none = -1;
  if (fd >= 0 && !atomic_compare_exchange_strong(&reserve, &none, fd)) close(fd);
}

static int is_look_at_thread(const char *path) {
  size_t length = strlen(path);
  return strncmp(path, "/proc/", 6) == 0 && length > 11 && strcmp(path + length - 5, "/stat") == 0;
}

// The C library's own is passed by: it does the same system call.
int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  int is_look = is_kept && is_look_at_thread(path);
  // What the last look took has been closed since, as a rule.
  if (is_look && atomic_load(&reserve) < 0) fault_reserve_descriptor();
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (fd >= 0 || errno != EMFILE || !is_look) return fd;
  int spare = atomic_exchange(&reserve, -1);
  if (spare < 0) return fd;
  close(spare);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
