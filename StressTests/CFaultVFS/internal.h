// What the files of this target share.
#ifndef CFAULTVFS_INTERNAL_H
#define CFAULTVFS_INTERNAL_H

#include <stdatomic.h>
#include <sqlite3.h>

#include "CFaultVFS.h"

typedef struct {
  _Atomic uint32_t accesses;
  _Atomic uint32_t files;
  // Accesses that pass before the first strike; below zero from then on.
  _Atomic int64_t countdown;
  // Strikes that are left.
  _Atomic int64_t left;
  _Atomic uint64_t parameter;
  // Counted by the processes of the slot.
  _Atomic uint64_t strikes;
} fault_rule;

typedef struct {
  // Which rules are set, as bits: the only thing that an undisturbed access looks at.
  _Atomic uint32_t armed;
  // The named place, from 1; 0 when there is none.
  _Atomic int32_t point;
  _Atomic int32_t point_action;
  _Atomic int64_t point_countdown;
  _Atomic uint64_t point_microseconds;
  _Atomic uint64_t point_strikes;
  _Atomic int64_t clock;
  _Atomic uint64_t clock_strikes;
  _Atomic uint64_t reached[FAULT_POINTS];
  fault_rule rules[FAULT_RULES];
} fault_slot;

struct fault_control {
  uint32_t magic;
  uint32_t notes_writes;
  fault_slot slots[FAULT_SLOTS];
};

// What this process listens to; NULL in a process that installed nothing. Written once.
extern _Atomic(fault_control *) fault_own_control;
extern int fault_own_slot;

// Whether a rule strikes an access now, and if so its parameter. Counts the strike.
int fault_strikes(int rule, uint32_t access, uint32_t file, uint64_t *parameter);

// The parameter of a rule that is set; all ones when it is not.
uint64_t fault_parameter(int rule);

// Whether any of this process's rules is set.
static inline uint32_t fault_armed(void) {
  fault_control *control = atomic_load_explicit(&fault_own_control, memory_order_acquire);
  if (!control) return 0;
  return atomic_load_explicit(&control->slots[fault_own_slot].armed, memory_order_acquire)
    | atomic_load_explicit(&control->slots[FAULT_EVERYBODY].armed, memory_order_acquire);
}

// The time that is not stepped, in nanoseconds, and the sleep that is not either.
void fault_sleep(uint64_t microseconds);

// Notes of one file for the power cut.
typedef struct fault_shadow fault_shadow;
//
// - file: the system's file, for the first to open it; NULL where there is nothing to be read.
fault_shadow *fault_shadow_open(const char *directory, const char *path, sqlite3_file *file);
void fault_shadow_close(fault_shadow *shadow);
// Between lock and unlock one process changes the file or carries over.
int fault_shadow_lock(fault_shadow *shadow);
void fault_shadow_unlock(fault_shadow *shadow);
// Notes that a range will be changed; SQLITE_OK or an error.
int fault_shadow_note(fault_shadow *shadow, int64_t offset, int64_t length);
// Carries over everything noted: it is on the disk now.
int fault_shadow_carry(fault_shadow *shadow, sqlite3_file *file);

// A generator for one purpose (SplitMix64, as in SeededRandom.swift).
uint64_t fault_random(uint64_t *state);

#endif
