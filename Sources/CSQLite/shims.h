// SQLite's C API, with what Swift cannot call by itself.
#ifndef BOUTIQUE_CSQLITE_SHIMS_H
#define BOUTIQUE_CSQLITE_SHIMS_H

// The preupdate hook is declared only with this; Debian's library is built with it.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

#endif
