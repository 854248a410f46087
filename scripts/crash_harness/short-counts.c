// A preloaded library. Reads, writes and copies between files do less than they were asked for, and are
// interrupted, as the kernel may do at any time. The seed decides. At the end, the number of shortened calls is
// written to a file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static _Atomic uint64_t state;
static _Atomic long cut;

__attribute__((constructor)) static void begin(void) {
    const char *seed = getenv("SHORT_COUNTS_SEED");
    state = seed ? strtoull(seed, NULL, 10) * 0x9E3779B97F4A7C15u : 1;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("SHORT_COUNTS_REPORT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)cut);
    fclose(file);
}

static uint64_t number(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// How much of a call on a plain file is done: all, a part, or -1 for none, with EINTR.
static ssize_t part(int descriptor, size_t count) {
    struct stat status;
    if (count < 2 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return (ssize_t)count;
    uint64_t choice = number() % 8;
    if (choice < 2) return (ssize_t)count;
    cut++;
    if (choice == 2) {
        errno = EINTR;
        return -1;
    }
    return choice == 3 ? 1 : (ssize_t)(1 + number() % count);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define AT_POSITION(name, content)                                   \
    ssize_t name(int fd, content *buffer, size_t count) {            \
        ssize_t some = part(fd, count);                              \
        return some < 0 ? -1 : NEXT(name)(fd, buffer, (size_t)some); \
    }
#define AT_OFFSET(name, content)                                             \
    ssize_t name(int fd, content *buffer, size_t count, off_t offset) {      \
        ssize_t some = part(fd, count);                                      \
        return some < 0 ? -1 : NEXT(name)(fd, buffer, (size_t)some, offset); \
    }

AT_POSITION(read, void)
AT_POSITION(write, const void)
AT_OFFSET(pread, void)
AT_OFFSET(pwrite, const void)

ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *goal, size_t count, unsigned flags) {
    ssize_t some = part(to, count);
    return some < 0 ? -1 : NEXT(copy_file_range)(from, start, to, goal, (size_t)some, flags);
}
