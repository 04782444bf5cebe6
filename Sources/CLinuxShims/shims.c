#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "lock offsets are 64 bits wide");

// ---- locks ----------------------------------------------------------------------------------

static int ofd_call(int fd, int command, struct flock *lock) {
  int result;
  do {
    result = fcntl(fd, command, lock);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

int clx_ofd_set(int fd, int kind, int64_t start, int64_t length) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);  // l_pid must be 0 for these locks
  lock.l_type = kind == CLX_EXCLUSIVE ? F_WRLCK : kind == CLX_SHARED ? F_RDLCK : F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return ofd_call(fd, F_OFD_SETLK, &lock);
}

int clx_ofd_probe(int fd, int64_t start, int64_t length) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  int result = ofd_call(fd, F_OFD_GETLK, &lock);
  if (result < 0) return result;
  return lock.l_type == F_UNLCK ? 0 : 1;
}

// ---- descriptors that a forked child must not keep --------------------------------------------
//
// A child made by fork shares the parent's open file descriptions: while it lives, a lock of a
// dead parent stays held. The child handler closes its copies, which leaves the parent's locks
// alone (a description's locks go with its last descriptor). The mutex is held across fork, so
// that no descriptor is ever open and not in the list at that instant.

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int *guarded;
static int guarded_used;
static int guarded_room;
static uint64_t generation = 1;
// The generation once more, in a page that the kernel empties in every child, whatever made it; NULL where the
// kernel does not know how.
static uint64_t *mark;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) { pthread_mutex_lock(&guard); }

static void after_fork_in_parent(void) { pthread_mutex_unlock(&guard); }

static void after_fork_in_child(void) {
  int saved = errno;
  for (int index = 0; index < guarded_used; index++) close(guarded[index]);
  guarded_used = 0;
  uint64_t next = __atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST);
  if (mark != NULL) __atomic_store_n(mark, next, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&guard);
  errno = saved;
}

static void install(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0) {
    mark = page;
    *mark = generation;
  } else if (page != MAP_FAILED) {
    munmap(page, size);
  }
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void enter(void) {
  pthread_once(&once, install);
  pthread_mutex_lock(&guard);
}

static void leave(void) { pthread_mutex_unlock(&guard); }

// With the guard held. Makes room before the descriptor exists, so that noting cannot fail.
static int make_room(void) {
  if (guarded_used < guarded_room) return 0;
  int room = guarded_room == 0 ? 64 : guarded_room * 2;
  int *larger = realloc(guarded, sizeof *larger * (size_t)room);
  if (larger == NULL) return -ENOMEM;
  guarded = larger;
  guarded_room = room;
  return 0;
}

static int note(int fd) {
  if (fd >= 0) guarded[guarded_used++] = fd;
  return fd;
}

int clx_guarded_open(const char *path, int flags, unsigned int mode) {
  enter();
  int fd = make_room();
  if (fd == 0) {
    do {
      fd = open(path, flags | O_CLOEXEC, (mode_t)mode);
    } while (fd < 0 && errno == EINTR);
    fd = note(fd < 0 ? -errno : fd);
  }
  leave();
  return fd;
}

int clx_guarded_temporary(const char *directory) {
  return clx_guarded_open(directory, O_RDWR | O_TMPFILE, 0600);
}

int clx_guarded_socket(void) {
  enter();
  int fd = make_room();
  if (fd == 0) {
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    fd = note(fd < 0 ? -errno : fd);
  }
  leave();
  return fd;
}

int clx_guarded_eventfd(void) {
  enter();
  int fd = make_room();
  if (fd == 0) {
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fd = note(fd < 0 ? -errno : fd);
  }
  leave();
  return fd;
}

int clx_guarded_memfd(const char *name) {
  enter();
  int fd = make_room();
  if (fd == 0) {
    fd = memfd_create(name, MFD_CLOEXEC);
    fd = note(fd < 0 ? -errno : fd);
  }
  leave();
  return fd;
}

void clx_guarded_close(int fd, bool unlock) {
  enter();
  for (int index = 0; index < guarded_used; index++) {
    if (guarded[index] != fd) continue;
    guarded[index] = guarded[--guarded_used];
    if (unlock) clx_ofd_set(fd, CLX_UNLOCK, 0, 0);
    close(fd);  // not again on EINTR: Linux has closed it by then
    break;
  }
  leave();
}

uint64_t clx_fork_generation(void) {
  pthread_once(&once, install);
  if (mark == NULL) return __atomic_load_n(&generation, __ATOMIC_RELAXED);
  uint64_t known = __atomic_load_n(mark, __ATOMIC_ACQUIRE);
  if (known != 0) return known;
  // A child that the handler has not seen. Who is first here gives it its number; the others may have read the
  // same `generation`, or find the mark set.
  uint64_t next = __atomic_load_n(&generation, __ATOMIC_SEQ_CST) + 1;
  if (__atomic_compare_exchange_n(mark, &known, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    __atomic_store_n(&generation, next, __ATOMIC_SEQ_CST);
    return next;
  }
  return known;
}

bool clx_fork_generation_sees_clones(void) { return mark != NULL; }

int clx_guarded_count(void) {
  enter();
  int count = guarded_used;
  leave();
  return count;
}

// ---- waking another process -----------------------------------------------------------------

static int abstract_address(
    struct sockaddr_un *address, socklen_t *size, const char *name, size_t length) {
  if (length > sizeof address->sun_path - 1) return -ENAMETOOLONG;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path + 1, name, length);
  *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  return 0;
}

int clx_abstract_bind(int fd, const char *name, size_t length) {
  struct sockaddr_un address;
  socklen_t size;
  int result = abstract_address(&address, &size, name, length);
  if (result < 0) return result;
  return bind(fd, (struct sockaddr *)&address, size) < 0 ? -errno : 0;
}

int clx_abstract_send(int fd, const char *name, size_t length) {
  struct sockaddr_un address;
  socklen_t size;
  int result = abstract_address(&address, &size, name, length);
  if (result < 0) return result;
  char byte = 1;
  ssize_t sent;
  do {
    sent = sendto(
        fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, size);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

void clx_drain_socket(int fd) {
  char buffer[16];
  // Bounded: a sender that never stops must not keep the waiter from looking.
  for (int count = 0; count < 64; count++) {
    ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno != EINTR) return;
  }
}

void clx_drain_eventfd(int fd) {
  uint64_t count;
  while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {}
}

void clx_signal_eventfd(int fd) {
  uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

int clx_wait(int first, int second, int64_t nanoseconds) {
  struct pollfd fds[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
  struct timespec limit = {
      .tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  int ready = ppoll(fds, 2, nanoseconds < 0 ? NULL : &limit, NULL);
  if (ready <= 0) return 0;
  return (fds[0].revents != 0 ? 1 : 0) | (fds[1].revents != 0 ? 2 : 0);
}

// ---- files ----------------------------------------------------------------------------------

int clx_next_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  close(fd);
  return fd;
}

int clx_fallocate(int fd, int64_t offset, int64_t length) {
  int result;
  do {
    result = fallocate(fd, 0, offset, length);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

int clx_touch(int fd) { return futimens(fd, NULL) < 0 ? -errno : 0; }

int clx_statfs_magic(const char *path, uint64_t *magic) {
  struct statfs facts;
  int result;
  do {
    result = statfs(path, &facts);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  *magic = (uint64_t)facts.f_type & 0xffffffffu;
  return 0;
}

void clx_error_text(int code, char *buffer, size_t size) {
  const char *text = strerror_r(code, buffer, size);  // GNU's form: may ignore the buffer
  if (text != buffer && size > 0) {
    strncpy(buffer, text, size - 1);
    buffer[size - 1] = 0;
  }
}

// ---- processes and threads --------------------------------------------------------------------

int clx_run_in_fork(int (*body)(void *), void *context) {
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child == 0) _exit(body(context) & 0x7f);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clx_run_in_clone(int (*body)(void *), void *context) {
  long child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
  if (child < 0) return -errno;
  if (child == 0) _exit(body(context) & 0x7f);
  int status = 0;
  while (waitpid((pid_t)child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clx_processor_count(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
  // More processors than the set has room for.
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

void clx_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void clx_act_as_user(unsigned int user) { setfsuid((uid_t)user); }

struct start {
  void (*body)(void *);
  void *context;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.body(start.context);
  return NULL;
}

int clx_start_thread(const char *name, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return -ENOMEM;
  start->body = body;
  start->context = context;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int result = pthread_create(&thread, &attributes, run, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (result != 0) {
    free(start);
    return -result;
  }
  pthread_setname_np(thread, name);
  return 0;
}
