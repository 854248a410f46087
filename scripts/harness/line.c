// A connection to another machine, in ssh's place: counts, delays and cuts the bytes.
//
//     line [-d MICROSECONDS] [-t BYTES | -b BYTES] [-k] REPORT COMMAND... -- [OPTION...] HOST WORD...
//     line -p REPORT COMMAND...
//
// COMMAND is ssh with its first options; its caller appends the rest. If COMMAND is "here", a shell of this
// machine runs the words, like one at the other end. With -t the connection is lost after so many bytes there,
// with -b after so many back. With -k the process at the other end is killed as well. After both ends have
// ended, REPORT has the bytes there and back, how many of each are content in frames of fsync-lite, how often
// the direction changed, and the process that made it. With -p it has the peak memory of COMMAND in bytes.
//
// The caller waits for a process that has waited for no other, so their memory is not counted as the caller's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, MOST_UNDER_WAY = 64 << 20, HEAD = 5, DATA = 6, LOST = 255 };

struct piece {
    struct piece *next;
    struct timespec due;
    ssize_t size;
    char bytes[];
};

struct direction {
    int from, to;
    long cut, delay;
    // The bytes under way, the oldest first.
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct piece *first, **last;
    long under_way;
    // The present frame.
    unsigned char head[HEAD];
    int head_size;
    unsigned long rest;
};

// Shared with the process that writes the report.
struct counts {
    volatile unsigned long bytes[2], content[2], turns;
    volatile int latest;
};

static struct counts *counts;
static struct direction directions[2];
static pid_t far;
static int kills;

static void count(struct direction *direction, const unsigned char *bytes, ssize_t size) {
    int number = direction - directions;
    counts->bytes[number] += size;
    if (counts->latest != number) counts->turns++;
    counts->latest = number;
    while (size > 0) {
        if (direction->head_size < HEAD) {
            direction->head[direction->head_size++] = *bytes++;
            size--;
            if (direction->head_size == HEAD) {
                const unsigned char *head = direction->head;
                direction->rest = head[0] | head[1] << 8 | head[2] << 16 | (unsigned long)head[3] << 24;
            }
        } else {
            unsigned long part = direction->rest < (unsigned long)size ? direction->rest : (unsigned long)size;
            if (direction->head[HEAD - 1] == DATA) counts->content[number] += part;
            direction->rest -= part;
            bytes += part;
            size -= part;
        }
        if (direction->head_size == HEAD && direction->rest == 0) direction->head_size = 0;
    }
}

static void lose(void) {
    if (kills) kill(-far, SIGKILL);
    _exit(LOST);
}

static int pass(struct direction *direction, char *bytes, ssize_t size) {
    int number = direction - directions;
    long left = direction->cut < 0 ? size : direction->cut - (long)counts->bytes[number];
    int cuts = left <= size && direction->cut >= 0;
    ssize_t passed = 0, part;
    if (cuts) size = left;
    count(direction, (unsigned char *)bytes, size);
    for (; passed < size; passed += part)
        if ((part = write(direction->to, bytes + passed, size - passed)) <= 0) {
            // This end is gone. Or the other end no longer reads, but may still write.
            if (number == 1) lose();
            return 0;
        }
    if (cuts) lose();
    return 1;
}

static void *deliver(void *argument) {
    struct direction *direction = argument;
    for (;;) {
        pthread_mutex_lock(&direction->lock);
        while (!direction->first) pthread_cond_wait(&direction->moved, &direction->lock);
        struct piece *piece = direction->first;
        pthread_mutex_unlock(&direction->lock);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &piece->due, NULL);
        ssize_t size = piece->size;
        int passed = size > 0 && pass(direction, piece->bytes, size);
        pthread_mutex_lock(&direction->lock);
        if (!(direction->first = piece->next)) direction->last = &direction->first;
        direction->under_way -= size;
        pthread_cond_broadcast(&direction->moved);
        pthread_mutex_unlock(&direction->lock);
        free(piece);
        if (!passed) break;
    }
    close(direction->to);
    return NULL;
}

static void *take(void *argument) {
    struct direction *direction = argument;
    for (;;) {
        struct piece *piece = malloc(sizeof *piece + PIECE);
        piece->next = NULL;
        ssize_t size = read(direction->from, piece->bytes, PIECE);
        piece->size = size > 0 ? size : 0;
        clock_gettime(CLOCK_MONOTONIC, &piece->due);
        piece->due.tv_nsec += direction->delay * 1000;
        piece->due.tv_sec += piece->due.tv_nsec / 1000000000;
        piece->due.tv_nsec %= 1000000000;
        int is_last = size <= 0;
        pthread_mutex_lock(&direction->lock);
        while (direction->under_way > MOST_UNDER_WAY) pthread_cond_wait(&direction->moved, &direction->lock);
        direction->under_way += piece->size;
        *direction->last = piece;
        direction->last = &piece->next;
        pthread_cond_broadcast(&direction->moved);
        pthread_mutex_unlock(&direction->lock);
        if (is_last) return NULL;
    }
}

// Without a delay there is one thread less for each direction.
static void *take_and_deliver(void *argument) {
    static _Thread_local char bytes[PIECE];
    struct direction *direction = argument;
    ssize_t size;
    while ((size = read(direction->from, bytes, PIECE)) > 0 && pass(direction, bytes, size)) {}
    close(direction->to);
    return NULL;
}

static void relay(void) {
    pthread_t taking, delivering[2];
    // rsync uses nonblocking sockets.
    for (int stream = 0; stream < 2; stream++) fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) & ~O_NONBLOCK);
    for (int number = 0; number < 2; number++) {
        struct direction *direction = &directions[number];
        direction->last = &direction->first;
        pthread_mutex_init(&direction->lock, NULL);
        pthread_cond_init(&direction->moved, NULL);
        if (direction->delay) pthread_create(&taking, NULL, take, direction);
        pthread_create(&delivering[number], NULL, direction->delay ? deliver : take_and_deliver, direction);
    }
    pthread_join(delivering[1], NULL);
    _exit(0);
}

// The words that a shell at the other end would get.
static char **words_here(char **words) {
    static char line[1 << 17];
    static char *shell[] = {"sh", "-c", line, NULL};
    while (*words && **words == '-' && strcmp(*words, "--") != 0) words++;
    if (*words && strcmp(*words, "--") == 0) words++;
    if (*words) words++;
    for (; *words; words++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", *line ? " " : "", *words);
    return shell;
}

static pid_t start(char **words, int input, int output, int is_quiet) {
    pid_t process = fork();
    if (process) return process;
    setpgid(0, 0);
    if (input >= 0) dup2(input, 0);
    if (output >= 0) dup2(output, 1);
    if (is_quiet) dup2(open("/dev/null", O_WRONLY), 2);
    execvp(words[0], words);
    perror(words[0]);
    _exit(127);
}

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void report(const char *path, const char *text) {
    char new[4096];
    snprintf(new, sizeof new, "%s.new", path);
    FILE *file = fopen(new, "w");
    if (file) fputs(text, file);
    if (file && fclose(file) == 0) rename(new, path);
}

static int peak(const char *path, char **words) {
    struct rusage usage;
    int status;
    char text[32];
    wait4(start(words, -1, -1, 0), &status, 0, &usage);
    snprintf(text, sizeof text, "%ld\n", usage.ru_maxrss << 10);
    report(path, text);
    return code_of(status);
}

static void carry(const char *path, char **words, int outcome) {
    int there[2], back[2], code;
    char text[256];
    pipe2(there, O_CLOEXEC);
    pipe2(back, O_CLOEXEC);
    char **command = strcmp(words[0], "here") == 0 ? words_here(words + 1) : words;
    far = start(command, there[0], back[1], directions[0].cut >= 0 || directions[1].cut >= 0);
    // A caller that needs no more ends the process that waits for the outcome.
    signal(SIGPIPE, SIG_IGN);
    close(there[0]);
    close(back[1]);
    directions[0].from = 0, directions[0].to = there[1];
    directions[1].from = back[0], directions[1].to = 1;
    pid_t relaying = fork();
    if (relaying == 0) relay();
    close(there[1]);
    close(back[0]);
    for (int stream = 0; stream < 3; stream++) dup2(open("/dev/null", O_RDWR), stream);
    waitpid(relaying, &code, 0);
    int was_lost = code_of(code) == LOST;
    if (!was_lost) waitpid(far, &code, 0);
    code = was_lost ? LOST : code_of(code);
    write(outcome, &code, sizeof code);
    close(outcome);
    if (was_lost) waitpid(far, NULL, 0);
    snprintf(text, sizeof text, "%lu %lu %lu %lu %lu %d\n", counts->bytes[0], counts->bytes[1], counts->content[0],
             counts->content[1], counts->turns, getpid());
    report(path, text);
    _exit(0);
}

int main(int argc, char **words) {
    int option, is_peak = 0, outcome[2], code = LOST;
    directions[0].cut = directions[1].cut = -1;
    while ((option = getopt(argc, words, "+d:t:b:kp")) != -1) {
        if (option == 'd') directions[0].delay = directions[1].delay = atol(optarg);
        else if (option == 't') directions[0].cut = atol(optarg);
        else if (option == 'b') directions[1].cut = atol(optarg);
        else if (option == 'k') kills = 1;
        else if (option == 'p') is_peak = 1;
        else return 64;
    }
    if (optind + 2 > argc) return 64;
    if (is_peak) return peak(words[optind], words + optind + 1);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pipe2(outcome, O_CLOEXEC);
    if (fork() == 0) {
        close(outcome[0]);
        carry(words[optind], words + optind + 1, outcome[1]);
    }
    close(outcome[1]);
    for (int stream = 0; stream < 2; stream++) close(stream);
    read(outcome[0], &code, sizeof code);
    return code;
}
