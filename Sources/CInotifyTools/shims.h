// libinotifytools and the kernel's event constants.
#ifndef BOUTIQUE_CINOTIFYTOOLS_SHIMS_H
#define BOUTIQUE_CINOTIFYTOOLS_SHIMS_H

#include <inotifytools/inotify.h>
#include <inotifytools/inotifytools.h>

#endif
