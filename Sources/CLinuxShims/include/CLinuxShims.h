// Linux calls and constants that Swift's Glibc module does not offer, and the registry of
// descriptors that a forked child must not keep. Every symbol begins `clx_`.
//
// Calls that can fail return 0 or a descriptor on success and -errno otherwise, so that nothing
// can run between the failure and the reading of errno.
#ifndef BOUTIQUE_CLINUXSHIMS_H
#define BOUTIQUE_CLINUXSHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Open-file-description locks on one byte range (fcntl(2), "Open file description locks").
enum { CLX_UNLOCK = 0, CLX_SHARED = 1, CLX_EXCLUSIVE = 2 };

// Sets a lock without waiting. -EAGAIN or -EACCES: somebody else has it.
int clx_ofd_set(int fd, int kind, int64_t start, int64_t length);

// Asks whether an exclusive lock could be set: 1 = somebody else is in the way, 0 = free.
int clx_ofd_probe(int fd, int64_t start, int64_t length);

// Opens a file and notes the descriptor as one that a forked child must close.
int clx_guarded_open(const char *path, int flags, unsigned int mode);

// Makes a nameless file in a directory (O_TMPFILE, open(2)), guarded like the above.
int clx_guarded_temporary(const char *directory);

// Makes an unbound datagram socket, close-on-exec and non-blocking, guarded like the above.
int clx_guarded_socket(void);

// Makes an eventfd, close-on-exec and non-blocking, guarded like the above.
int clx_guarded_eventfd(void);

// Makes an anonymous file in memory, close-on-exec, guarded like the above.
int clx_guarded_memfd(const char *name);

// The number that the next descriptor would get, or -errno.
int clx_next_descriptor(void);

// Drops all open-file-description locks of `fd` when `unlock`, forgets it, closes it.
void clx_guarded_close(int fd, bool unlock);

// Another number in every process that this one's image has become by fork without exec; without a system call.
uint64_t clx_fork_generation(void);

// Whether that holds for children that are made around the C library (a bare clone), too: the kernel can empty
// a page in a child (since 4.14).
bool clx_fork_generation_sees_clones(void);

// Number of descriptors under guard. For tests.
int clx_guarded_count(void);

// Binds or sends to a name in the abstract namespace (unix(7)): no file, gone with the socket.
int clx_abstract_bind(int fd, const char *name, size_t length);
int clx_abstract_send(int fd, const char *name, size_t length);

// Reads whatever datagrams are queued, or the count of an eventfd, without waiting.
void clx_drain_socket(int fd);
void clx_drain_eventfd(int fd);
void clx_signal_eventfd(int fd);

// Waits until one of two descriptors (-1: none) can be read, or for `nanoseconds`
// (negative: for ever). Bit 0: first, bit 1: second, 0: time is up or a signal came.
int clx_wait(int first, int second, int64_t nanoseconds);

// fallocate(2) proper; the C library's posix_fallocate writes by itself where the file system
// cannot, which races with other writers.
int clx_fallocate(int fd, int64_t offset, int64_t length);

// Sets both time stamps to now: raises IN_ATTRIB, changes no content.
int clx_touch(int fd);

// Magic number of the file system that holds `path`.
int clx_statfs_magic(const char *path, uint64_t *magic);

// The message for an errno, without the C library's shared buffer.
void clx_error_text(int code, char *buffer, size_t size);

// Forks, runs `body(context)` in the child and exits it with the result; returns the exit
// status of the child, or -errno. For tests of what a forked child may and may not do.
int clx_run_in_fork(int (*body)(void *), void *context);

// The same with a child that is made around the C library, whose handlers do not run: the body must neither
// allocate nor lock.
int clx_run_in_clone(int (*body)(void *), void *context);

// Makes the calling thread another user as far as files are concerned (setfsuid(2)). For tests.
void clx_act_as_user(unsigned int user);

// How many processors the calling thread may run on; at least 1.
int clx_processor_count(void);

// Tells the processor that the caller looks for something in a loop.
void clx_relax(void);

// Starts a detached thread with a small stack and all signals blocked, so that the program's
// own handlers never run on it. 0 or -errno.
int clx_start_thread(const char *name, void (*body)(void *), void *context);

#endif
