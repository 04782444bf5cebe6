#include "CFaultVFS.h"

#include <sqlite3.h>

int fault_vfs_register(void) { return SQLITE_OK; }
