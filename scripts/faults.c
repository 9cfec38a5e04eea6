/* Counts the system calls about files below one folder, and lets the n-th of them fail, or ends the process there.
 *
 * Compiled by faults.py and loaded with LD_PRELOAD.  A process calls faults_arm() before the work, and faults_count()
 * after it.  With a log, each call is a line: its number, its name, its path, and for renames and links the new path, for
 * writes and syncs the size of the file.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { SHORT = -1, KILL = -2, KILL_AFTER = -3 };
enum { MAX_FD = 4096, MAX_PATH = 512 };

static char root[PATH_MAX];
static size_t root_length;
static atomic_long count;
static long fails_at;
static int fault, lasts, log_fd = -1;
static _Atomic int armed;
static char failed_call[16];
static char fd_paths[MAX_FD][MAX_PATH];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

void faults_arm(const char *folder, long at, int kind, int is_lasting, int log) {
    strncpy(root, folder, sizeof root - 1);
    root_length = strlen(root);
    fails_at = at, fault = kind, lasts = is_lasting, log_fd = log;
    failed_call[0] = 0;
    count = 0;
    armed = 1;
}

long faults_count(void) {
    armed = 0;
    return count;
}

static int is_below(const char *path) {
    return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static const char *path_of(int fd) {
    return fd >= 0 && fd < MAX_FD && fd_paths[fd][0] ? fd_paths[fd] : NULL;
}

/* The absolute form of a path that is below the root, or NULL. */
static const char *watched(int folder, const char *path, char *buffer) {
    if (!armed || !path) return NULL;
    if (path[0] == '/') return is_below(path) ? path : NULL;
    const char *base = folder == AT_FDCWD ? NULL : path_of(folder);
    if (!base) return NULL;
    snprintf(buffer, PATH_MAX, "%s/%s", base, path);
    return buffer;
}

static int allocates(const char *call) {
    return !strcmp(call, "create") || !strcmp(call, "write") || !strcmp(call, "mkdir") || !strcmp(call, "link") ||
           !strcmp(call, "rename") || !strcmp(call, "swap");
}

static int opens(const char *call) { return !strcmp(call, "create") || !strcmp(call, "open") || !strcmp(call, "opendir"); }

/* What becomes of this call: 0, an errno, or SHORT; does not return where the process ends before it. */
static int hit(const char *call, const char *path, const char *other, long long size) {
    if (!armed || !path) return 0;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (log_fd >= 0) {
        char line[3 * PATH_MAX];
        int length = snprintf(line, sizeof line, "%ld\t%s\t%s\t%s\t%lld\n", number, call, path, other ? other : "", size);
        ssize_t ignored = write(log_fd, line, length);  /* log_fd is not watched */
        (void)ignored;
    }
    if (number == fails_at) {
        strncpy(failed_call, call, sizeof failed_call - 1);
        if (fault == KILL) kill(getpid(), SIGKILL);
        return fault;
    }
    if (lasts && fails_at && number > fails_at && fault > 0) {
        if (fault == ENOSPC) return allocates(call) ? fault : 0;
        if (fault == EMFILE) return opens(call) ? fault : 0;
        return strcmp(call, failed_call) ? 0 : fault;
    }
    return 0;
}

static void done(int outcome) {
    if (outcome == KILL_AFTER) kill(getpid(), SIGKILL);
}

/* Take back the line of a call that the system refused. */
static void refused(void) {
    int number = errno;
    if (armed && log_fd >= 0) dprintf(log_fd, "0\tfailed\t\t\t0\n");
    errno = number;
}

static void opened(int fd, const char *path) {
    if (fd >= 0 && fd < MAX_FD) snprintf(fd_paths[fd], MAX_PATH, "%s", path);
}

#define FAIL(outcome) if (outcome > 0) { errno = outcome; return -1; }

static int open_with(int (*real)(int, const char *, int, ...), int folder, const char *path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *name = watched(folder, path, buffer);
    int outcome = hit(flags & (O_CREAT | O_TRUNC) ? "create" : "open", name, NULL, flags & O_TRUNC ? 0 : -1);
    FAIL(outcome)
    int fd = real(folder, path, flags, mode);
    if (name) opened(fd, name);
    done(outcome);
    return fd;
}

#define OPENED_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        REAL(name); \
        return open_with(real, folder, path, flags, mode); \
    }
#define OPENED(name, name_at) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        REAL(name_at); \
        return open_with(real, AT_FDCWD, path, flags, mode); \
    }
OPENED_AT(openat)
OPENED_AT(openat64)
OPENED(open, openat)
OPENED(open64, openat64)

int close(int fd) {
    REAL(close);
    const char *path = path_of(fd);
    int outcome = hit("close", path, NULL, 0);
    if (fd >= 0 && fd < MAX_FD) fd_paths[fd][0] = 0;
    int result = real(fd);
    FAIL(outcome)
    done(outcome);
    return result;
}

static long long size_of(int fd) {
    struct stat found;
    return path_of(fd) && log_fd >= 0 && !fstat(fd, &found) ? (long long)found.st_size : 0;
}

#define MOVES(call, type, name, arguments, passed, shortened) \
    ssize_t name arguments { \
        REAL(name); \
        int outcome = hit(call, path_of(fd), NULL, size_of(fd)); \
        FAIL(outcome) \
        if (outcome == SHORT && length > 1) length = shortened; \
        ssize_t result = real passed; \
        done(outcome); \
        return result; \
    }
MOVES("write", const void, write, (int fd, const void *data, size_t length), (fd, data, length), length / 2)
MOVES("write", const void, pwrite, (int fd, const void *data, size_t length, off_t at), (fd, data, length, at), length / 2)
MOVES("write", const void, pwrite64, (int fd, const void *data, size_t length, off64_t at), (fd, data, length, at), length / 2)
MOVES("read", void, read, (int fd, void *data, size_t length), (fd, data, length), length / 2)
MOVES("read", void, pread, (int fd, void *data, size_t length, off_t at), (fd, data, length, at), length / 2)
MOVES("read", void, pread64, (int fd, void *data, size_t length, off64_t at), (fd, data, length, at), length / 2)

ssize_t sendfile(int fd, int in, off_t *at, size_t length) {
    REAL(sendfile);
    int outcome = hit("write", path_of(fd), NULL, size_of(fd));
    FAIL(outcome)
    ssize_t result = real(fd, in, at, outcome == SHORT && length > 1 ? 1 : length);
    done(outcome);
    return result;
}

ssize_t sendfile64(int fd, int in, off64_t *at, size_t length) { return sendfile(fd, in, at, length); }

#define SIMPLE(call, name, arguments, passed, path, other) \
    int name arguments { \
        REAL(name); \
        char first[PATH_MAX], second[PATH_MAX]; \
        (void)first, (void)second; \
        int outcome = hit(call, path, other, 0); \
        FAIL(outcome) \
        int result = real passed; \
        if (result < 0 && (path)) refused(); \
        done(outcome); \
        return result; \
    }
#define HERE(path) watched(AT_FDCWD, path, first)
#define THERE(path) watched(AT_FDCWD, path, second)
int fsync(int fd) {
    REAL(fsync);
    int outcome = hit("fsync", path_of(fd), NULL, size_of(fd));
    FAIL(outcome)
    int result = real(fd);
    done(outcome);
    return result;
}
int fdatasync(int fd) { return fsync(fd); }
SIMPLE("truncate", ftruncate, (int fd, off_t length), (fd, length), path_of(fd), NULL)
SIMPLE("truncate", ftruncate64, (int fd, off64_t length), (fd, length), path_of(fd), NULL)
SIMPLE("flock", flock, (int fd, int how), (fd, how), path_of(fd), NULL)
SIMPLE("rename", rename, (const char *old, const char *new), (old, new), HERE(old), THERE(new))
SIMPLE(flags & 2 ? "swap" : "rename", renameat2, (int a, const char *old, int b, const char *new, unsigned flags), (a, old, b, new, flags),
       HERE(old), THERE(new))
SIMPLE("link", link, (const char *old, const char *new), (old, new), HERE(old), THERE(new))
SIMPLE("link", linkat, (int a, const char *old, int b, const char *new, int flags), (a, old, b, new, flags), watched(a, old, first), watched(b, new, second))
SIMPLE("mkdir", mkdir, (const char *path, mode_t mode), (path, mode), HERE(path), NULL)
SIMPLE("mkdir", mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), watched(folder, path, first), NULL)
SIMPLE("unlink", unlink, (const char *path), (path), HERE(path), NULL)
SIMPLE("unlink", unlinkat, (int folder, const char *path, int flags), (folder, path, flags), watched(folder, path, first), NULL)
SIMPLE("unlink", rmdir, (const char *path), (path), HERE(path), NULL)
SIMPLE("stat", stat, (const char *path, struct stat *out), (path, out), HERE(path), NULL)
SIMPLE("stat", stat64, (const char *path, struct stat64 *out), (path, out), HERE(path), NULL)
SIMPLE("stat", lstat, (const char *path, struct stat *out), (path, out), HERE(path), NULL)
SIMPLE("stat", lstat64, (const char *path, struct stat64 *out), (path, out), HERE(path), NULL)
SIMPLE("utime", utimensat, (int folder, const char *path, const struct timespec times[2], int flags), (folder, path, times, flags),
       watched(folder, path, first), NULL)

#define MAPS(name, offset) \
    void *name(void *at, size_t length, int how, int flags, int fd, offset from) { \
        REAL(name); \
        int outcome = fd < 0 ? 0 : hit("mmap", path_of(fd), NULL, 0); \
        if (outcome > 0) { errno = outcome; return MAP_FAILED; } \
        void *result = real(at, length, how, flags, fd, from); \
        done(outcome); \
        return result; \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

DIR *opendir(const char *path) {
    REAL(opendir);
    char first[PATH_MAX];
    int outcome = hit("opendir", HERE(path), NULL, 0);
    if (outcome > 0) { errno = outcome; return NULL; }
    DIR *result = real(path);
    done(outcome);
    return result;
}
