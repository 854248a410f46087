// What glibc's Swift module leaves out, and nothing more: no function of our own, no state.
#ifndef FSYNC_LITE_CLINUX_H
#define FSYNC_LITE_CLINUX_H

#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#endif
