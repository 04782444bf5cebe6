// Faults inside a process: a file system for SQLite that fails, a clock that steps, watches that are
// refused, places in the library that kill. Told what to do through one file that all processes of a run map.
//
// The control file
//   header      magic, version, whether writes are noted for a power cut
//   slots[64]   one for each place in the run
//   slots[64]   the last one, FAULT_EVERYBODY: applies to every process
// Every number in it is an atomic: it is written by the process that leads the run and read by the others,
// except what the others count. A process that dies at any instruction leaves nothing locked, since there is
// no lock.
//
// A rule is set in this order: its numbers, then `armed`. It is taken back the other way round. A process that
// still sees the former numbers strikes once too often or too rarely, which a test of disturbances can bear.
#ifndef CFAULTVFS_H
#define CFAULTVFS_H

#include <stdint.h>

enum { FAULT_PLACES = 64, FAULT_EVERYBODY = 64, FAULT_SLOTS = 65, FAULT_POINTS = 32 };

// What a rule does.
enum fault_rule_kind {
  FAULT_RULE_ERROR = 0,       // the access fails with EIO, and does nothing
  FAULT_RULE_SHORT_WRITE = 1, // a part is written, then EIO or, with an odd parameter, "disk full"
  FAULT_RULE_FULL = 2,        // no file grows
  FAULT_RULE_SYNC = 3,        // fsync fails
  FAULT_RULE_DELAY = 4,       // the access waits; the parameter is in microseconds
  FAULT_RULE_KILL = 5,        // SIGKILL before the access
  // No file grows beyond half the parameter, as with RLIMIT_FSIZE; an odd one only counts what RLIMIT_FSIZE
  // itself will refuse.
  FAULT_RULE_FILE_SIZE = 6,
  FAULT_RULE_WATCH = 7,       // inotify gives neither instance nor watch
  FAULT_RULES = 8
};

// The accesses of a rule, as bits.
enum fault_access {
  FAULT_READ = 1,
  FAULT_WRITE = 2,
  FAULT_TRUNCATE = 4,
  FAULT_SYNC = 8,
  FAULT_SHARED_MEMORY = 16,
  FAULT_OPEN = 32,
};

// The files of a rule, as bits.
enum fault_file { FAULT_DATABASE = 1, FAULT_LOG = 2, FAULT_OTHER = 4 };

// What a process does at a named place.
enum fault_action { FAULT_ACTION_NONE = 0, FAULT_ACTION_KILL = 1, FAULT_ACTION_STOP = 2, FAULT_ACTION_DELAY = 3 };

typedef struct fault_control fault_control;

// Maps the control file; it is made anew when `notes_writes` is not negative. NULL with errno set when it
// cannot.
fault_control *fault_control_map(const char *path, int notes_writes);
void fault_control_unmap(fault_control *control);

// Sets a rule: of the accesses it is for, `countdown` pass and the next `strikes` fail.
void fault_rule_set(
  fault_control *control, int slot, int rule, uint32_t accesses, uint32_t files, int64_t countdown,
  int64_t strikes, uint64_t parameter);
// Takes the rule back and returns how often it has struck.
uint64_t fault_rule_clear(fault_control *control, int slot, int rule);
uint64_t fault_rule_strikes(fault_control *control, int slot, int rule);

// Sets what happens at a named place when it is reached for the `countdown`th time from now.
void fault_point_set(
  fault_control *control, int slot, int point, int action, int64_t countdown, uint64_t microseconds);
// Takes that back and returns how often it has happened.
uint64_t fault_point_clear(fault_control *control, int slot);
uint64_t fault_point_strikes(fault_control *control, int slot);
// How often a place has been reached by processes of the slot since the control file was made.
uint64_t fault_point_reached(fault_control *control, int slot, int point);

// Sets by how many nanoseconds the clock of the day is wrong; 0 is right again. Returns how often a wrong time
// has been told since the last call.
uint64_t fault_clock_set(fault_control *control, int slot, int64_t nanoseconds);

// Makes this process listen to a control file and registers the file system.
//
// - control: from fault_control_map; it stays mapped.
// - shadow: the directory for the notes of a power cut.
// - is_default: whether it is the file system of all databases; else only of those opened by its name.
// Returns 0 or an SQLite result code.
int fault_process_install(fault_control *control, int slot, const char *shadow, int is_default);

// Keeps one descriptor for Dispatch, which ends a process in which it cannot open a file.
void fault_reserve_descriptor(void);
// Says that a named place is reached: does what is set there.
void fault_point_reach(int point);

// The power cut, by the process that leads, with no other process running.
//
// Puts every file that is noted in the directory `shadow` into a state in which a power cut could have left
// it, and begins new notes. `text` gets a line about it. Returns 0 or an error number.
int fault_power_cut(const char *shadow, uint64_t seed, char *text, int size);

// Writes what a crash could have left behind the last commit of a log that is in use: nobody commits
// meanwhile. Returns the bytes written, 0 when there was nothing to be done, or a negative error number.
int64_t fault_log_tamper(const char *database, uint64_t seed);

// Sets a limit (RLIMIT_…) of a running process; `former` gets the one it had. Returns 0 or an error number.
int fault_limit_set(int process, int resource, uint64_t limit, uint64_t *former);

// mount(2) and umount2(2) of a file system in memory. Return 0 or an error number.
int fault_mount(const char *directory, const char *name, uint64_t bytes, int is_change);
int fault_unmount(const char *directory);

// Runs statements on a database through the file system of this process, for trying it out. Returns SQLite's
// extended result code; `value` gets the first column of the last row.
typedef struct fault_connection fault_connection;
int fault_connection_open(const char *path, fault_connection **connection);
int fault_connection_run(fault_connection *connection, const char *sql, int64_t *value);
void fault_connection_close(fault_connection *connection);
// Watches a file; a descriptor, or a negative error number.
int fault_watch_open(const char *path);
// Reads all news; 1 when the kernel says that some were lost.
int fault_watch_overflowed(int descriptor);

#endif
