// The clock of the day and the watches of files, as this program sees them.
//
// A shared library that calls one of these functions finds the program's own before the C library's, so
// Foundation, Dispatch, SQLite and libinotifytools ask here. What is not disturbed goes on to the C library.
//
// A wait until a moment of the day is the kernel's, whose clock does not step. So the two calls with which
// Foundation and Dispatch wait get the moment put right; a monotonic moment is told from one of the day by
// its size: no machine has been up for 31 years.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum { first_moment_of_day = 1000000000 };

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_sem_timedwait)(sem_t *, const struct timespec *);
static int (*real_inotify_init)(void);
static int (*real_inotify_init1)(int);
static int (*real_inotify_add_watch)(int, const char *, uint32_t);

// The C library keeps an older kind of condition variable under the same name; which one dlsym finds is
// its own affair.
static void *find_condition_wait(void) {
  static const char *const versions[] = {"GLIBC_2.3.2", "GLIBC_2.17", "GLIBC_2.27"};
  for (unsigned i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
    void *found = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", versions[i]);
    if (found) return found;
  }
  return dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

// Before main, so with one thread.
__attribute__((constructor)) static void find(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_cond_timedwait = find_condition_wait();
  real_sem_timedwait = dlsym(RTLD_NEXT, "sem_timedwait");
  real_inotify_init = dlsym(RTLD_NEXT, "inotify_init");
  real_inotify_init1 = dlsym(RTLD_NEXT, "inotify_init1");
  real_inotify_add_watch = dlsym(RTLD_NEXT, "inotify_add_watch");
}

static int64_t offset_in(fault_slot *slot, int counts) {
  int64_t offset = atomic_load_explicit(&slot->clock, memory_order_relaxed);
  if (offset && counts) atomic_fetch_add_explicit(&slot->clock_strikes, 1, memory_order_relaxed);
  return offset;
}

static int64_t offset(int counts) {
  fault_control *control = atomic_load_explicit(&fault_own_control, memory_order_acquire);
  if (!control) return 0;
  return offset_in(&control->slots[fault_own_slot], counts)
    + offset_in(&control->slots[FAULT_EVERYBODY], counts);
}

static void add(struct timespec *time, int64_t nanoseconds) {
  int64_t sum = (int64_t)time->tv_nsec + nanoseconds % 1000000000;
  time->tv_sec += nanoseconds / 1000000000;
  if (sum < 0) {
    sum += 1000000000;
    time->tv_sec -= 1;
  } else if (sum >= 1000000000) {
    sum -= 1000000000;
    time->tv_sec += 1;
  }
  time->tv_nsec = (long)sum;
}

// MARK: Looking at the clock

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock_gettime ? real_clock_gettime(clock, time)
                                  : (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t wrong = offset(1);
    if (wrong) add(time, wrong);
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *place) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}

// MARK: Waiting

static const struct timespec *right(const struct timespec *moment, struct timespec *room) {
  int64_t wrong = moment && moment->tv_sec > first_moment_of_day ? offset(0) : 0;
  if (!wrong) return moment;
  *room = *moment;
  add(room, -wrong);
  return room;
}

int pthread_cond_timedwait(
  pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
  const struct timespec *restrict moment) {
  struct timespec room;
  return real_cond_timedwait(condition, mutex, right(moment, &room));
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict moment) {
  struct timespec room;
  return real_sem_timedwait(semaphore, right(moment, &room));
}

// MARK: Watches

static int refuses_watches(void) {
  return (fault_armed() & (1u << FAULT_RULE_WATCH))
    && fault_strikes(FAULT_RULE_WATCH, FAULT_OPEN, FAULT_OTHER, NULL);
}

// What inotify_init(2) says of max_user_instances.
int inotify_init(void) {
  if (refuses_watches()) {
    errno = EMFILE;
    return -1;
  }
  return real_inotify_init();
}

int inotify_init1(int flags) {
  if (refuses_watches()) {
    errno = EMFILE;
    return -1;
  }
  return real_inotify_init1(flags);
}

// What inotify_add_watch(2) says of max_user_watches.
int inotify_add_watch(int descriptor, const char *path, uint32_t mask) {
  if (refuses_watches()) {
    errno = ENOSPC;
    return -1;
  }
  return real_inotify_add_watch(descriptor, path, mask);
}

int fault_watch_open(const char *path) {
  int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) return -errno;
  if (inotify_add_watch(descriptor, path, IN_ATTRIB | IN_CREATE | IN_DELETE) >= 0) return descriptor;
  int code = errno;
  close(descriptor);
  return -code;
}

int fault_watch_overflowed(int descriptor) {
  char buffer[65536] __attribute__((aligned(8)));
  int has = 0;
  ssize_t count;
  while ((count = read(descriptor, buffer, sizeof(buffer))) > 0) {
    for (char *place = buffer; place < buffer + count;) {
      struct inotify_event *event = (struct inotify_event *)place;
      if (event->mask & IN_Q_OVERFLOW) has = 1;
      place += sizeof(*event) + event->len;
    }
  }
  return has;
}
