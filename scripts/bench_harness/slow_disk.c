// slow_disk IMAGE MOUNT_POINT KIND: a file `disk` with the content of IMAGE and the delays of a disk. A file
// system on a loop device over it waits like one on that disk.
//
// KIND flash: 0.1 ms a read, any number at once. KIND rotating: one read at a time. It takes 4 ms if it is far
// from the last one, 0.2 ms if it is within 256 KiB, and 10 us if it follows it.
#define FUSE_USE_VERSION 35
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int image;
static int rotates;
static pthread_mutex_t head = PTHREAD_MUTEX_INITIALIZER;
static off_t position;

static void wait_for(long microseconds) {
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

static void seek_to(off_t offset, size_t size) {
    if (!rotates) {
        // The call itself takes the rest of 0.1 ms.
        wait_for(80);
        return;
    }
    pthread_mutex_lock(&head);
    off_t distance = llabs((long long)(offset - position));
    wait_for(distance == 0 ? 10 : distance < 256 * 1024 ? 200 : 4000);
    position = offset + (off_t)size;
    pthread_mutex_unlock(&head);
}

static int get_status(const char *path, struct stat *status, struct fuse_file_info *file) {
    (void)file;
    struct stat backing;
    memset(status, 0, sizeof *status);
    if (strcmp(path, "/") == 0) {
        status->st_mode = S_IFDIR | 0755;
        status->st_nlink = 2;
        return 0;
    }
    if (fstat(image, &backing)) return -errno;
    status->st_mode = S_IFREG | 0644;
    status->st_nlink = 1;
    status->st_size = backing.st_size;
    return 0;
}

static int read_file(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    seek_to(offset, size);
    ssize_t count = pread(image, buffer, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int write_file(const char *path, const char *buffer, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    ssize_t count = pwrite(image, buffer, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int allocate(const char *path, int mode, off_t offset, off_t length, struct fuse_file_info *file) {
    (void)path, (void)file;
    return fallocate(image, mode, offset, length) ? -errno : 0;
}

static void *start(struct fuse_conn_info *connection, struct fuse_config *config) {
    config->attr_timeout = config->entry_timeout = 1e6;
    connection->max_background = 64;
    connection->congestion_threshold = 60;
    // The file system above reads ahead as on a disk.
    connection->max_readahead = 0;
    return NULL;
}

static const struct fuse_operations operations = {
    .getattr = get_status, .read = read_file, .write = write_file, .fallocate = allocate, .init = start,
};

int main(int count, char **arguments) {
    if (count != 4) return 64;
    image = open(arguments[1], O_RDWR);
    if (image < 0) {
        perror(arguments[1]);
        return 66;
    }
    rotates = strcmp(arguments[3], "rotating") == 0;
    char *words[] = {arguments[0], arguments[2], "-f", "-o", "max_threads=64,max_idle_threads=64"};
    return fuse_main(5, words, &operations, NULL);
}
