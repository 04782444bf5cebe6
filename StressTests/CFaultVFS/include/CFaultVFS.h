/// A file system of SQLite that does what disks do on bad days, told through shared memory.
#ifndef CFAULTVFS_H
#define CFAULTVFS_H

/// Makes the file system the default one of this process; 0 when done, an SQLite result code otherwise.
int fault_vfs_register(void);

#endif
