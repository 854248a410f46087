// The part of the kernel's FUSE protocol that a read-only file system needs, and the calls around it.
//
// Source: include/uapi/linux/fuse.h of Linux. The layouts are those of protocol 7.31; `backing_id`, `max_stack_depth`
// and `fuse_backing` are those of 7.40. All numbers are in the machine's byte order. Each record of a listing begins at
// a multiple of eight bytes.
#ifndef FSYNC_LITE_FUSE_PROTOCOL_H
#define FSYNC_LITE_FUSE_PROTOCOL_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum fuse_operation {
    FUSE_OP_LOOKUP = 1, FUSE_OP_FORGET = 2, FUSE_OP_GETATTR = 3, FUSE_OP_SETATTR = 4, FUSE_OP_READLINK = 5,
    FUSE_OP_SYMLINK = 6, FUSE_OP_MKNOD = 8, FUSE_OP_MKDIR = 9, FUSE_OP_UNLINK = 10, FUSE_OP_RMDIR = 11,
    FUSE_OP_RENAME = 12, FUSE_OP_LINK = 13, FUSE_OP_OPEN = 14, FUSE_OP_READ = 15, FUSE_OP_WRITE = 16,
    FUSE_OP_STATFS = 17, FUSE_OP_RELEASE = 18, FUSE_OP_SETXATTR = 21, FUSE_OP_GETXATTR = 22,
    FUSE_OP_LISTXATTR = 23, FUSE_OP_REMOVEXATTR = 24, FUSE_OP_INIT = 26,
    FUSE_OP_READDIR = 28, FUSE_OP_CREATE = 35, FUSE_OP_INTERRUPT = 36,
    FUSE_OP_DESTROY = 38, FUSE_OP_BATCH_FORGET = 42, FUSE_OP_FALLOCATE = 43, FUSE_OP_READDIRPLUS = 44,
    FUSE_OP_RENAME2 = 45, FUSE_OP_LSEEK = 46, FUSE_OP_COPY_FILE_RANGE = 47
};

/// Flags of INIT.
static const uint64_t FUSE_FLAG_ASYNC_READ = 1ull << 0, FUSE_FLAG_AUTO_INVAL_DATA = 1ull << 12,
    FUSE_FLAG_DO_READDIRPLUS = 1ull << 13, FUSE_FLAG_PARALLEL_DIROPS = 1ull << 18, FUSE_FLAG_POSIX_ACL = 1ull << 20,
    FUSE_FLAG_MAX_PAGES = 1ull << 22, FUSE_FLAG_CACHE_SYMLINKS = 1ull << 23, FUSE_FLAG_INIT_EXT = 1ull << 30,
    FUSE_FLAG_PASSTHROUGH = 1ull << 37;

/// Flags in the reply to OPEN.
static const uint32_t FUSE_OPEN_KEEP_CACHE = 1 << 1, FUSE_OPEN_PASSTHROUGH = 1 << 7;

static const int32_t FUSE_NOTICE_INVAL_ENTRY = 3;

struct fuse_request { uint32_t len, opcode; uint64_t unique, nodeid; uint32_t uid, gid, pid, extlen; };
struct fuse_reply { uint32_t len; int32_t error; uint64_t unique; };

struct fuse_attributes {
    uint64_t ino, size, blocks, atime, mtime, ctime;
    uint32_t atimensec, mtimensec, ctimensec, mode, nlink, uid, gid, rdev, blksize, flags;
};
struct fuse_entry {
    uint64_t nodeid, generation, entry_valid, attr_valid;
    uint32_t entry_valid_nsec, attr_valid_nsec;
    struct fuse_attributes attr;
};
struct fuse_attr_reply { uint64_t valid; uint32_t valid_nsec, unused; struct fuse_attributes attr; };

struct fuse_init_request { uint32_t major, minor, max_readahead, flags, flags2, unused[11]; };
struct fuse_init_reply {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth, unused[6];
};

struct fuse_open_reply { uint64_t fh; uint32_t open_flags; int32_t backing_id; };
struct fuse_read_request { uint64_t fh, offset; uint32_t size, read_flags; uint64_t lock_owner; uint32_t flags, unused; };
struct fuse_seek_request { uint64_t fh, offset; uint32_t whence, unused; };
struct fuse_seek_reply { uint64_t offset; };
struct fuse_release_request { uint64_t fh; uint32_t flags, release_flags; uint64_t lock_owner; };
struct fuse_xattr_size { uint32_t size, unused; };
struct fuse_interrupt_request { uint64_t unique; };
/// The name follows.
struct fuse_listed { uint64_t ino, off; uint32_t namelen, type; };
struct fuse_statfs_reply {
    uint64_t blocks, bfree, bavail, files, ffree;
    uint32_t bsize, namelen, frsize, unused, spare[6];
};
/// The name and a NUL follow.
struct fuse_inval_entry { uint64_t parent; uint32_t namelen, flags; };
struct fuse_backing { int32_t fd; uint32_t flags; uint64_t unused; };

/// Gets an id with which the kernel reads a file by itself; below zero is an error.
static inline int fuse_open_backing(int connection, int file) {
    struct fuse_backing backing = {file, 0, 0};
    return ioctl(connection, _IOW(229, 1, struct fuse_backing), &backing);
}

static inline int fuse_close_backing(int connection, int32_t id) {
    uint32_t backing = (uint32_t)id;
    return ioctl(connection, _IOW(229, 2, uint32_t), &backing);
}

/// Mounts with MS_RDONLY, MS_NOSUID and MS_NODEV of linux/mount.h. glibc's headers of them clash with Swift's.
static inline long fuse_mount(const char *source, const char *place, const char *options) {
    return syscall(SYS_mount, source, place, "fuse.fsync-lite", 1ul | 2ul | 4ul, options);
}

/// Detaches the file system (MNT_DETACH, UMOUNT_NOFOLLOW). It ends when its last file is closed.
static inline long fuse_unmount(const char *place) { return syscall(SYS_umount2, place, 2 | 8); }

/// Receives the descriptor that fusermount3 sends over a socket; below zero is an error.
static inline int fuse_receive_descriptor(int socket) {
    char byte;
    union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC); while (count < 0 && errno == EINTR);
    const struct cmsghdr *head = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head == NULL || head->cmsg_type != SCM_RIGHTS) return errno = EPROTO, -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

#endif
