// Makes the $FAIL_AT-th call of one kind, $FAIL_CALL, fail: "open", "read", "write", "mmap",
// "rename" or "pthread_create". At the end of the process, writes the number of such calls to the
// file $FAIL_COUNT.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static int fails(const char* kind) {
  const char* failing = getenv("FAIL_CALL");
  if (failing == NULL || strcmp(failing, kind) != 0) return 0;
  const char* at = getenv("FAIL_AT");
  return atomic_fetch_add(&calls, 1) + 1 == (at == NULL ? 0 : atoi(at));
}

__attribute__((destructor)) static void write_count(void) {
  const char* path = getenv("FAIL_COUNT");
  if (path == NULL) return;
  char text[16];
  const int size = snprintf(text, sizeof text, "%d", atomic_load(&calls));
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, (size_t)size);
  syscall(SYS_close, file);
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define FAIL_IF(kind, error, result) \
  if (fails(kind)) {                 \
    errno = (error);                 \
    return result;                   \
  }

// --- Files. --------------------------------------------------------------------------------------

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                 \
  int name(const char* path, int flags, ...) {     \
    va_list arguments;                             \
    va_start(arguments, flags);                    \
    const mode_t mode = mode_of(flags, arguments); \
    va_end(arguments);                             \
    FAIL_IF("open", EMFILE, -1)                    \
    return REAL(name)(path, flags, mode);          \
  }
OPEN(open)
OPEN(open64)

FILE* fopen(const char* path, const char* mode) {
  FAIL_IF("open", EMFILE, NULL)
  return REAL(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  FAIL_IF("open", EMFILE, NULL)
  return REAL(fopen64)(path, mode);
}
int memfd_create(const char* name, unsigned flags) {
  FAIL_IF("open", EMFILE, -1)
  return REAL(memfd_create)(name, flags);
}

ssize_t read(int file, void* bytes, size_t size) {
  FAIL_IF("read", EIO, -1)
  return REAL(read)(file, bytes, size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  FAIL_IF("write", ENOSPC, -1)
  return REAL(write)(file, bytes, size);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  FAIL_IF("write", ENOSPC, -1)
  return REAL(writev)(file, parts, count);
}

// The C library's own writes cannot be replaced. The stream is therefore flushed while its file is
// a full device.
static int flush_to_full_device(FILE* stream) {
  const int file = fileno(stream);
  const int saved = dup(file);
  const int full = (int)syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY);
  dup2(full, file);
  const int result = REAL(fflush)(stream);
  dup2(saved, file);
  close(saved);
  close(full);
  if (result != 0) errno = ENOSPC;
  return result;
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  const size_t written = REAL(fwrite)(bytes, size, count, stream);
  return fails("write") && flush_to_full_device(stream) != 0 ? 0 : written;
}
int fflush(FILE* stream) {
  return stream != NULL && fails("write") ? flush_to_full_device(stream) : REAL(fflush)(stream);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  FAIL_IF("mmap", ENOMEM, MAP_FAILED)
  return REAL(mmap)(address, size, protection, flags, file, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  FAIL_IF("mmap", ENOMEM, MAP_FAILED)
  return REAL(mmap64)(address, size, protection, flags, file, offset);
}

int rename(const char* from, const char* to) {
  FAIL_IF("rename", EACCES, -1)
  return REAL(rename)(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  FAIL_IF("rename", EACCES, -1)
  return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

// --- Threads. ------------------------------------------------------------------------------------

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  if (fails("pthread_create")) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, run, argument);
}
