// The control file, and what of it concerns this process.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

static const uint32_t magic = 0x464c5431;

_Atomic(fault_control *) fault_own_control = NULL;
int fault_own_slot = 0;

fault_control *fault_control_map(const char *path, int notes_writes) {
  int flags = notes_writes >= 0 ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR;
  int fd = open(path, flags | O_CLOEXEC, 0600);
  if (fd < 0) return NULL;
  struct stat facts;
  // A page that the disk has no room for would be SIGBUS at its first use; so all are asked for now.
  int code = notes_writes >= 0 ? posix_fallocate(fd, 0, sizeof(fault_control))
    : fstat(fd, &facts) != 0 ? errno : 0;
  if (code != 0) {
    close(fd);
    errno = code;
    return NULL;
  }
  if (notes_writes < 0 && facts.st_size < (off_t)sizeof(fault_control)) {
    close(fd);
    errno = EINVAL;
    return NULL;
  }
  fault_control *control =
    mmap(NULL, sizeof(fault_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  code = errno;
  close(fd);
  if (control == MAP_FAILED) {
    errno = code;
    return NULL;
  }
  if (notes_writes >= 0) {
    control->notes_writes = notes_writes != 0;
    control->magic = magic;
  } else if (control->magic != magic) {
    munmap(control, sizeof(fault_control));
    errno = EINVAL;
    return NULL;
  }
  return control;
}

void fault_control_unmap(fault_control *control) { munmap(control, sizeof(fault_control)); }

// MARK: Rules

void fault_rule_set(
  fault_control *control, int slot, int rule, uint32_t accesses, uint32_t files, int64_t countdown,
  int64_t strikes, uint64_t parameter) {
  fault_slot *place = &control->slots[slot];
  fault_rule *it = &place->rules[rule];
  atomic_fetch_and(&place->armed, ~(1u << rule));
  it->accesses = accesses;
  it->files = files;
  it->countdown = countdown;
  it->left = strikes;
  it->parameter = parameter;
  it->strikes = 0;
  atomic_fetch_or(&place->armed, 1u << rule);
}

uint64_t fault_rule_clear(fault_control *control, int slot, int rule) {
  atomic_fetch_and(&control->slots[slot].armed, ~(1u << rule));
  return control->slots[slot].rules[rule].strikes;
}

uint64_t fault_rule_strikes(fault_control *control, int slot, int rule) {
  return control->slots[slot].rules[rule].strikes;
}

static int strikes_in(
  fault_slot *slot, int rule, uint32_t access, uint32_t file, uint64_t *parameter) {
  if (!(atomic_load_explicit(&slot->armed, memory_order_acquire) & (1u << rule))) return 0;
  fault_rule *it = &slot->rules[rule];
  if (!(it->accesses & access) || !(it->files & file)) return 0;
  if (it->countdown > 0 && atomic_fetch_sub(&it->countdown, 1) > 0) return 0;
  if (it->left <= 0 || atomic_fetch_sub(&it->left, 1) <= 0) return 0;
  atomic_fetch_add(&it->strikes, 1);
  if (parameter) *parameter = it->parameter;
  return 1;
}

int fault_strikes(int rule, uint32_t access, uint32_t file, uint64_t *parameter) {
  fault_control *control = atomic_load_explicit(&fault_own_control, memory_order_acquire);
  if (!control) return 0;
  return strikes_in(&control->slots[fault_own_slot], rule, access, file, parameter)
    || strikes_in(&control->slots[FAULT_EVERYBODY], rule, access, file, parameter);
}

uint64_t fault_parameter(int rule) {
  fault_control *control = atomic_load_explicit(&fault_own_control, memory_order_acquire);
  if (!control) return UINT64_MAX;
  fault_slot *slots[] = {&control->slots[fault_own_slot], &control->slots[FAULT_EVERYBODY]};
  for (int i = 0; i < 2; i++) {
    if (slots[i]->armed & (1u << rule)) return slots[i]->rules[rule].parameter;
  }
  return UINT64_MAX;
}

// MARK: Places

void fault_point_set(
  fault_control *control, int slot, int point, int action, int64_t countdown, uint64_t microseconds) {
  fault_slot *it = &control->slots[slot];
  it->point = 0;
  it->point_action = action;
  it->point_countdown = countdown;
  it->point_microseconds = microseconds;
  it->point_strikes = 0;
  it->point = point + 1;
}

uint64_t fault_point_clear(fault_control *control, int slot) {
  control->slots[slot].point = 0;
  return control->slots[slot].point_strikes;
}

uint64_t fault_point_strikes(fault_control *control, int slot) {
  return control->slots[slot].point_strikes;
}

uint64_t fault_point_reached(fault_control *control, int slot, int point) {
  return control->slots[slot].reached[point];
}

static void act(fault_slot *slot, int point) {
  if (slot->point != point + 1) return;
  // Of several threads that arrive at once only one is the one.
  if (atomic_fetch_sub(&slot->point_countdown, 1) != 1) return;
  atomic_fetch_add(&slot->point_strikes, 1);
  switch (slot->point_action) {
  case FAULT_ACTION_KILL: kill(getpid(), SIGKILL); break;
  case FAULT_ACTION_STOP: kill(getpid(), SIGSTOP); break;
  case FAULT_ACTION_DELAY: fault_sleep(slot->point_microseconds); break;
  default: break;
  }
}

void fault_point_reach(int point) {
  fault_control *control = atomic_load_explicit(&fault_own_control, memory_order_acquire);
  if (!control || point < 0 || point >= FAULT_POINTS) return;
  fault_slot *own = &control->slots[fault_own_slot];
  atomic_fetch_add_explicit(&own->reached[point], 1, memory_order_relaxed);
  act(own, point);
  act(&control->slots[FAULT_EVERYBODY], point);
}

// MARK: Clock and sleep

uint64_t fault_clock_set(fault_control *control, int slot, int64_t nanoseconds) {
  uint64_t strikes = atomic_exchange(&control->slots[slot].clock_strikes, 0);
  control->slots[slot].clock = nanoseconds;
  return strikes;
}

void fault_sleep(uint64_t microseconds) {
  struct timespec time = {
    .tv_sec = (time_t)(microseconds / 1000000), .tv_nsec = (long)(microseconds % 1000000) * 1000};
  while (syscall(SYS_nanosleep, &time, &time) != 0 && errno == EINTR) {}
}

uint64_t fault_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
