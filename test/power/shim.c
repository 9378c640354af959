/*
 * A library for LD_PRELOAD that records what a process does to the files of one folder: each write with its data, each
 * change of a size or a name, each sync, and each report that the process writes to its parent. The records are in the
 * order in which they took effect: a lock is held over each call and its record. A sync has two records, one before and
 * one after it, because others may write while it is under way.
 *
 * SHIM_FOLDER names the folder, SHIM_LOG the log, SHIM_REPORTS the descriptor of reports.
 *
 * Not recorded:
 * - shared-memory files (-shm): they are rebuilt after a power cut;
 * - sync, syncfs and sync_file_range: what is not recorded makes nothing durable, so a test can only become stricter;
 * - calls that bypass the C library: the test compares the recorded files with the real ones when the process has ended.
 *
 * All calls go to the kernel directly, so that nothing has to be looked up, and the library works from the first call on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The numbers are those of recording.ts. */
enum kind { OPEN = 1, WRITE, RESIZE, SYNC, SYNCED, RENAME, UNLINK, LINK, MKDIR, RMDIR, REPORT, UNKNOWN };
enum { CREATED = 1, FOLDER = 2 };

struct record {
  uint32_t kind;
  uint32_t handle; /* numbers the open calls: names are resolved by whoever reads the log */
  int64_t at;
  uint64_t length; /* of the bytes that follow */
};

#define FILES_MAX 4096
static struct { uint32_t handle; dev_t dev; ino_t ino; } files[FILES_MAX]; /* by descriptor */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static int log_file = -1;
static int reports = -1;
static uint32_t handles;
static int64_t syncs;

__attribute__((constructor)) static void start(void) {
  const char *place = getenv("SHIM_FOLDER");
  const char *path = getenv("SHIM_LOG");
  const char *number = getenv("SHIM_REPORTS");
  if (!place || !path || strlen(place) >= PATH_MAX) return;
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  log_file = fcntl(file, F_DUPFD_CLOEXEC, FILES_MAX / 2); /* out of the way of those that others expect */
  if (log_file < 0) {
    fprintf(stderr, "shim: cannot write %s: %s\n", path, strerror(errno));
    _exit(70);
  }
  syscall(SYS_close, file);
  strcpy(folder, place);
  folder_length = strlen(folder);
  if (number) reports = atoi(number);
}

static void put(enum kind kind, uint32_t handle, int64_t at, const void *bytes, size_t length) {
  struct record head = {kind, handle, at, length};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, length}};
  for (int first = 0; first < 2;) {
    ssize_t done = syscall(SYS_writev, log_file, parts + first, 2 - first);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      fprintf(stderr, "shim: cannot write the log: %s\n", strerror(errno));
      _exit(70);
    }
    while (first < 2 && (size_t)done >= parts[first].iov_len) done -= parts[first++].iov_len;
    if (first < 2) parts[first].iov_base = (char *)parts[first].iov_base + done, parts[first].iov_len -= done;
  }
}

static void put_text(enum kind kind, const char *text) { put(kind, 0, 0, text, strlen(text)); }

/* The path from the folder on ("" is the folder itself), or null if it lies elsewhere or is not recorded. */
static const char *inside(const char *path, char *space) {
  if (log_file < 0 || !path) return NULL;
  if (path[0] != '/') {
    if (!getcwd(space, PATH_MAX) || strlen(space) + strlen(path) + 2 > PATH_MAX) return NULL;
    strcat(strcat(space, "/"), path);
    path = space;
  }
  if (strncmp(path, folder, folder_length) != 0) return NULL;
  const char *rest = path + folder_length;
  if (*rest != '/' && *rest != 0) return NULL;
  size_t length = strlen(rest);
  if (length >= 4 && strcmp(rest + length - 4, "-shm") == 0) return NULL;
  return *rest == '/' ? rest + 1 : rest;
}

/*
 * The handle of a descriptor, or 0 if it is not recorded. libuv closes descriptors without the C library, so one may have
 * become something else: it counts if it is still the same file.
 */
static uint32_t handle_of(int fd) {
  if (log_file < 0 || fd < 0 || fd >= FILES_MAX || files[fd].handle == 0) return 0;
  int before = errno;
  struct stat now;
  int same = fstat(fd, &now) == 0 && now.st_dev == files[fd].dev && now.st_ino == files[fd].ino;
  errno = before;
  return same ? files[fd].handle : 0;
}

static void begin(void) { pthread_mutex_lock(&lock); }

static void end(void) {
  int before = errno;
  pthread_mutex_unlock(&lock);
  errno = before;
}

/* Opening */

static int open_file(const char *path, int flags, mode_t mode) {
  char space[PATH_MAX];
  const char *name = inside(path, space);
  if (!name) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < FILES_MAX) files[fd].handle = 0;
    return fd;
  }
  begin();
  struct stat stat;
  int existed = lstat(path, &stat) == 0;
  int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (fd >= FILES_MAX) put_text(UNKNOWN, "a descriptor beyond the table");
  else if (fd >= 0 && fstat(fd, &stat) == 0) {
    files[fd].handle = ++handles;
    files[fd].dev = stat.st_dev;
    files[fd].ino = stat.st_ino;
    int what = (existed ? 0 : CREATED) | (S_ISDIR(stat.st_mode) ? FOLDER : 0);
    put(OPEN, handles, what, name, strlen(name));
    if (existed && (flags & O_TRUNC)) put(RESIZE, handles, 0, NULL, 0);
  }
  end();
  return fd;
}

#define OPENER(name)                                      \
  int name(const char *path, int flags, ...) {            \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    mode_t mode = va_arg(rest, mode_t);                   \
    va_end(rest);                                         \
    return open_file(path, flags, mode);                  \
  }
OPENER(open)
OPENER(open64)

int creat(const char *path, mode_t mode) { return open_file(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  begin();
  if (fd >= 0 && fd < FILES_MAX) files[fd].handle = 0;
  int result = fd == log_file && fd >= 0 ? 0 : syscall(SYS_close, fd);
  end();
  return result;
}

/* Writing */

ssize_t write(int fd, const void *bytes, size_t length) {
  int is_report = log_file >= 0 && fd == reports;
  if (!is_report && !handle_of(fd)) return syscall(SYS_write, fd, bytes, length);
  begin();
  ssize_t done = syscall(SYS_write, fd, bytes, length);
  if (done > 0 && is_report) put(REPORT, 0, 0, bytes, done);
  else if (done > 0) put(WRITE, handle_of(fd), lseek(fd, 0, SEEK_CUR) - done, bytes, done);
  end();
  return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(SYS_pwrite64, fd, bytes, length, at);
  begin();
  ssize_t done = syscall(SYS_pwrite64, fd, bytes, length, at);
  if (done > 0) put(WRITE, handle, at, bytes, done);
  end();
  return done;
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { return pwrite(fd, bytes, length, at); }

static void put_parts(uint32_t handle, off_t at, const struct iovec *parts, ssize_t left) {
  for (; left > 0; parts++) {
    ssize_t length = (ssize_t)parts->iov_len < left ? (ssize_t)parts->iov_len : left;
    if (length > 0) put(WRITE, handle, at, parts->iov_base, length);
    at += length;
    left -= length;
  }
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(SYS_writev, fd, parts, count);
  begin();
  ssize_t done = syscall(SYS_writev, fd, parts, count);
  if (done > 0) put_parts(handle, lseek(fd, 0, SEEK_CUR) - done, parts, done);
  end();
  return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(SYS_pwritev, fd, parts, count, at, 0);
  begin();
  ssize_t done = syscall(SYS_pwritev, fd, parts, count, at, 0);
  if (done > 0) put_parts(handle, at, parts, done);
  end();
  return done;
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return pwritev(fd, parts, count, at); }

/* Sizes */

int ftruncate(int fd, off_t size) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(SYS_ftruncate, fd, size);
  begin();
  int result = syscall(SYS_ftruncate, fd, size);
  if (result == 0) put(RESIZE, handle, size, NULL, 0);
  end();
  return result;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int truncate(const char *path, off_t size) {
  int fd = open_file(path, O_WRONLY, 0);
  if (fd < 0) return fd;
  int result = ftruncate(fd, size);
  close(fd);
  return result;
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

int fallocate(int fd, int mode, off_t at, off_t length) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(SYS_fallocate, fd, mode, at, length);
  begin();
  struct stat before, after;
  fstat(fd, &before);
  int result = syscall(SYS_fallocate, fd, mode, at, length);
  if (result == 0 && (mode & ~FALLOC_FL_KEEP_SIZE) != 0) put_text(UNKNOWN, "fallocate of another mode");
  if (result == 0 && fstat(fd, &after) == 0 && after.st_size != before.st_size)
    put(RESIZE, handle, after.st_size, NULL, 0);
  end();
  return result;
}
int fallocate64(int fd, int mode, off64_t at, off64_t length) { return fallocate(fd, mode, at, length); }
int posix_fallocate(int fd, off_t at, off_t length) { return fallocate(fd, 0, at, length) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off64_t at, off64_t length) { return posix_fallocate(fd, at, length); }

/* Syncs */

static int sync_file(long call, int fd) {
  uint32_t handle = handle_of(fd);
  if (!handle) return syscall(call, fd);
  begin();
  int64_t number = ++syncs;
  put(SYNC, handle, number, NULL, 0);
  end();
  int result = syscall(call, fd);
  if (result != 0) return result;
  begin();
  put(SYNCED, handle, number, NULL, 0);
  end();
  return 0;
}
int fsync(int fd) { return sync_file(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_file(SYS_fdatasync, fd); }

/* Names */

static int change_name(enum kind kind, const char *path, long call, long flag) {
  char space[PATH_MAX];
  const char *name = inside(path, space);
  if (!name) return syscall(call, AT_FDCWD, path, flag);
  begin();
  int result = syscall(call, AT_FDCWD, path, flag);
  if (result == 0) put_text(kind, name);
  end();
  return result;
}
int unlink(const char *path) { return change_name(UNLINK, path, SYS_unlinkat, 0); }
int rmdir(const char *path) { return change_name(RMDIR, path, SYS_unlinkat, AT_REMOVEDIR); }
int mkdir(const char *path, mode_t mode) { return change_name(MKDIR, path, SYS_mkdirat, mode); }

static int change_names(enum kind kind, const char *from, const char *to, long call) {
  char one[PATH_MAX], two[PATH_MAX], both[2 * PATH_MAX];
  const char *old = inside(from, one), *new = inside(to, two);
  if (!old && !new) return syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0);
  begin();
  int result = syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && !(old && new)) put_text(UNKNOWN, "a name that comes from elsewhere or goes there");
  else if (result == 0) put(kind, 0, 0, both, snprintf(both, sizeof both, "%s\n%s", old, new));
  end();
  return result;
}
int rename(const char *from, const char *to) { return change_names(RENAME, from, to, SYS_renameat2); }
int link(const char *from, const char *to) { return change_names(LINK, from, to, SYS_linkat); }

int symlink(const char *target, const char *path) {
  char space[PATH_MAX];
  if (inside(path, space)) put_text(UNKNOWN, "a symbolic link");
  return syscall(SYS_symlinkat, target, AT_FDCWD, path);
}

/* What the model does not know */

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t at) {
  if ((protection & PROT_WRITE) && (flags & MAP_SHARED) && handle_of(fd)) {
    begin();
    put_text(UNKNOWN, "a file mapped to be written");
    end();
  }
  return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, at);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t at) {
  return mmap(address, length, protection, flags, fd, at);
}
