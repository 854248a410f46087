// Exchanges pairs of names until it is stopped, then puts them back: SEED PAUSE PLACE STAND-IN...
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = 1; }

/* By the directory as it is now: through a path, one exchange would lead another one outside. No symlink on the way is
   followed: the tool may have put a stand-in back where the round before ended. Such a place fails each exchange. */
struct place { int directory; const char *name; };

static struct place find(char *path) {
    struct place place;
    char *slash = strrchr(path, '/');
    *slash = 0;
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    place.directory = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    place.name = slash + 1;
    return place;
}

static int exchange(struct place *pair) {
    return renameat2(pair[0].directory, pair[0].name, pair[1].directory, pair[1].name, RENAME_EXCHANGE);
}

static int holds(struct place place, int object) {
    struct stat here, wanted;
    return fstatat(place.directory, place.name, &here, AT_SYMLINK_NOFOLLOW) == 0 && fstat(object, &wanted) == 0 &&
           here.st_dev == wanted.st_dev && here.st_ino == wanted.st_ino;
}

int main(int count, char **words) {
    unsigned seed = atoi(words[1]);
    long pause = atol(words[2]);
    int pairs = (count - 3) / 2;
    int odd[64] = {0}, stand_ins[64];
    struct place places[64][2];
    unsigned long swaps = 0;
    for (int pair = 0; pair < pairs; pair++) {
        for (int side = 0; side < 2; side++)
            places[pair][side] = find(words[3 + 2 * pair + side]);
        stand_ins[pair] = openat(places[pair][1].directory, places[pair][1].name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    signal(SIGTERM, stop);
    puts("ready");
    fflush(stdout);
    while (!stopped) {
        int pair = rand_r(&seed) % pairs;
        if (exchange(places[pair]) == 0) {
            odd[pair] ^= 1;
            swaps++;
        }
        if (pause) {
            struct timespec start, now;
            long wait = rand_r(&seed) % pause;
            clock_gettime(CLOCK_MONOTONIC, &start);
            do clock_gettime(CLOCK_MONOTONIC, &now);
            while (!stopped && (now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < wait);
        }
    }
    /* The tool exchanges names too: where the stand-in is tells more than how often it was exchanged here. */
    for (int pair = 0; pair < pairs; pair++)
        if (holds(places[pair][0], stand_ins[pair]) || (odd[pair] && !holds(places[pair][1], stand_ins[pair])))
            exchange(places[pair]);
    printf("%lu\n", swaps);
    return 0;
}
