// Only the system calls that a run cannot do without. No program for the same work can make fewer.
//
//   calls walk [-x] ROOT [ROOT]    lists the directories and asks for the status of every entry, with -x for the
//                                  names of the extended attributes too; two roots side by side, one on two threads
//   calls copy SOURCE TARGET       copies a tree with times and modes on two threads, and waits until the file system
//                                  has it
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, LIST = 32 << 10, NAMES = 256 };
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

// Directories that are not read yet, by their paths below a root, and the number that are being read.
struct walk {
    int root, copy;
    char **paths;
    size_t count, room, busy;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static bool with_attributes;

static void fail(const char *what) {
    fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int checked(int result, const char *what) {
    if (result < 0) fail(what);
    return result;
}

static void push(struct walk *walk, const char *directory, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0) fail(name);
    pthread_mutex_lock(&walk->lock);
    if (walk->count == walk->room) {
        walk->room = walk->room * 2 + 1024;
        if (!(walk->paths = realloc(walk->paths, walk->room * sizeof *walk->paths))) fail(name);
    }
    walk->paths[walk->count++] = path;
    pthread_cond_signal(&walk->changed);
    pthread_mutex_unlock(&walk->lock);
}

// The next directory; NULL if all are read.
static char *pop(struct walk *walk) {
    char *path = NULL;
    pthread_mutex_lock(&walk->lock);
    while (!walk->count && walk->busy) pthread_cond_wait(&walk->changed, &walk->lock);
    if (walk->count) {
        path = walk->paths[--walk->count];
        walk->busy++;
    }
    pthread_mutex_unlock(&walk->lock);
    return path;
}

static void done(struct walk *walk, char *path) {
    free(path);
    pthread_mutex_lock(&walk->lock);
    if (!--walk->busy) pthread_cond_broadcast(&walk->changed);
    pthread_mutex_unlock(&walk->lock);
}

static struct statx status(int directory, const char *name) {
    struct statx status;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
    checked(statx(directory, name, flags, STATX_ALL, &status), name);
    return status;
}

static void set_times(int directory, const char *name, struct statx *status) {
    struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = status->stx_mtime.tv_sec, .tv_nsec = status->stx_mtime.tv_nsec},
    };
    if ((name ? utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW) : futimens(directory, times)) < 0) fail("times");
}

static void copy_file(int from, int to, const char *name, struct statx *seen, char *buffer) {
    int source = checked(openat(from, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC), name);
    posix_fadvise(source, 0, 1 << 20, POSIX_FADV_WILLNEED);
    mode_t mode = seen->stx_mode & 07777;
    int target = checked(openat(to, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode), name);
    ssize_t length;
    for (off_t offset = 0; offset < (off_t)seen->stx_size; offset += length) {
        if ((length = pread(source, buffer, BUFFER, offset)) <= 0) break;
        if (pwrite(target, buffer, length, offset) != length) fail(name);
    }
    char names[NAMES];
    flistxattr(source, names, sizeof names);
    status(source, "");
    set_times(target, NULL, seen);
    status(target, "");
    close(source);
    close(target);
}

static void take(struct walk *walk, int from, int to, const char *path, const char *name, char *buffer) {
    struct statx seen = status(from, name);
    if (with_attributes) {
        char names[NAMES];
        syscall(SYS_listxattrat, from, name, AT_SYMLINK_NOFOLLOW, names, sizeof names);
    }
    if (S_ISDIR(seen.stx_mode)) {
        if (to >= 0) checked(mkdirat(to, name, 0700), name);
        push(walk, path, name);
    } else if (to >= 0 && S_ISREG(seen.stx_mode)) {
        copy_file(from, to, name, &seen, buffer);
    } else if (to >= 0 && S_ISLNK(seen.stx_mode)) {
        char link[PATH_MAX] = "";
        checked(readlinkat(from, name, link, sizeof link - 1), name);
        checked(symlinkat(link, to, name), name);
        set_times(to, name, &seen);
    }
}

static void *work(void *argument) {
    struct walk *walk = argument;
    char *path, *buffer = malloc(BUFFER), *list = malloc(LIST);
    while ((path = pop(walk))) {
        int from = checked(openat(walk->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path);
        int to = walk->copy < 0 ? -1 : checked(openat(walk->copy, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path);
        long length;
        while ((length = checked(getdents64(from, list, LIST), path)) > 0)
            for (long at = 0; at < length; at += ((struct dirent64 *)(list + at))->d_reclen) {
                const char *name = ((struct dirent64 *)(list + at))->d_name;
                if (strcmp(name, ".") && strcmp(name, "..")) take(walk, from, to, path, name, buffer);
            }
        if (to >= 0) {
            struct statx seen = status(from, "");
            checked(fchmod(to, seen.stx_mode & 07777), path);
            // fsync-lite makes this call once the directory is full. Here its count matters, not the resulting
            // time.
            set_times(to, NULL, &seen);
            close(to);
        }
        close(from);
        done(walk, path);
    }
    free(buffer);
    free(list);
    return NULL;
}

static struct walk *opened(const char *root, const char *target) {
    struct walk *walk = calloc(1, sizeof *walk);
    pthread_mutex_init(&walk->lock, NULL);
    pthread_cond_init(&walk->changed, NULL);
    walk->root = checked(open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), root);
    walk->copy = -1;
    if (target) {
        checked(mkdir(target, 0700), target);
        walk->copy = checked(open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC), target);
    }
    push(walk, ".", ".");
    return walk;
}

int main(int count, char **words) {
    bool copies = count == 4 && !strcmp(words[1], "copy");
    int first = 2;
    if (!copies && count > 2 && !strcmp(words[2], "-x")) {
        with_attributes = true;
        first++;
    }
    if (!copies && (count <= first || count > first + 2 || strcmp(words[1], "walk"))) {
        fprintf(stderr, "usage: calls walk [-x] ROOT [ROOT] | calls copy SOURCE TARGET\n");
        return 64;
    }
    struct walk *one = opened(words[first], copies ? words[3] : NULL);
    struct walk *other = copies || count == first + 1 ? one : opened(words[first + 1], NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, other)) fail("a thread");
    work(one);
    pthread_join(thread, NULL);
    if (copies) {
        checked(syncfs(one->copy), words[3]);
        checked(fsync(one->copy), words[3]);
    }
    return 0;
}
