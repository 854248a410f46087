// Exchanges pairs of names until it is told to stop, then puts them back as they were: SEED PAUSE PLACE STAND-IN...
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = 1; }

/* By the directory as it is now: through a path, one exchange would lead another one outside. */
struct place { int directory; const char *name; };

static struct place find(char *path) {
    struct place place;
    char *slash = strrchr(path, '/');
    *slash = 0;
    place.directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    place.name = slash + 1;
    return place;
}

static int exchange(struct place *pair) {
    return renameat2(pair[0].directory, pair[0].name, pair[1].directory, pair[1].name, RENAME_EXCHANGE);
}

int main(int count, char **words) {
    unsigned seed = atoi(words[1]);
    long pause = atol(words[2]);
    int pairs = (count - 3) / 2;
    int odd[64] = {0};
    struct place places[64][2];
    unsigned long swaps = 0;
    for (int pair = 0; pair < pairs; pair++)
        for (int side = 0; side < 2; side++)
            places[pair][side] = find(words[3 + 2 * pair + side]);
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
    for (int pair = 0; pair < pairs; pair++)
        if (odd[pair]) exchange(places[pair]);
    printf("%lu\n", swaps);
    return 0;
}
