// Linux calls and constants that Swift's Glibc module does not offer. Every symbol begins `clx_`.
#ifndef BOUTIQUE_CLINUXSHIMS_H
#define BOUTIQUE_CLINUXSHIMS_H

#endif
