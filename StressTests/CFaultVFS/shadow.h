// The notes of one file, for those who keep them and for the power cut that reads them.
#ifndef CFAULTVFS_SHADOW_H
#define CFAULTVFS_SHADOW_H

#include <stdint.h>

enum { FAULT_NOTES_HEAD = 4096 };

struct fault_shadow {
  int notes;
  int durable;
};

int64_t fault_size_of(int fd);
struct fault_shadow *fault_shadow_open_pair(const char *notes, const char *durable);
// The notes as (offset, length), to be freed. 0 or -1.
int fault_shadow_notes(struct fault_shadow *shadow, int64_t (**notes)[2], int64_t *count);

#endif
