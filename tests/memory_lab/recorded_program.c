/* A program whose allocations are known: recorded_program MODE...
 * Blocks of 12345 bytes mark the allocations that a test counts. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMark = 12345 };

static void mark(int count) {
  for (int i = 0; i < count; ++i) free(malloc(kMark));
}

static void* work(void* argument) {
  (void)argument;
  for (int i = 0; i < 1000; ++i) {
    void* block = malloc(kMark);
    block = realloc(block, 2 * kMark);
    free(block);
  }
  return NULL;
}

static void threads(int count) {
  pthread_t workers[8];
  for (int i = 0; i < count; ++i) pthread_create(&workers[i], NULL, work, NULL);
  for (int i = 0; i < count; ++i) pthread_join(workers[i], NULL);
}

/* More threads than chunks may be open: each one ends before the next starts. */
static void many_threads(void) {
  for (int i = 0; i < 300; ++i) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
  }
}

static void aligned(void) {
  void* block = NULL;
  if (posix_memalign(&block, 256, kMark) == 0) free(block);
  free(aligned_alloc(4096, kMark));
  free(memalign(64, kMark));
  free(valloc(kMark));
  free(pvalloc(1));
  free(calloc(5, kMark / 5));
  free(reallocarray(NULL, 5, kMark / 5));
  /* Failures are no events. */
  volatile size_t huge = SIZE_MAX / 2;
  if (malloc(huge) != NULL || posix_memalign(&block, 3, 1) == 0) abort();
  if (reallocarray(NULL, huge, 4) != NULL) abort();
  block = malloc(kMark);
  if (realloc(block, huge) != NULL || malloc_usable_size(block) < kMark) abort();
  free(block);
}

static char* map(void* address, size_t bytes, int protection, int flags) {
  char* mapped = mmap(address, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (mapped == MAP_FAILED) abort();
  return mapped;
}

static void check(int result) {
  if (result != 0) abort();
}

/* 5 allocations, 5 releases and 4 reallocations; 64 KiB are live at the peak. */
static void mappings(void) {
  enum { kPage = 4096, kAccess = PROT_READ | PROT_WRITE };
  /* Released in two steps, the middle first: the rest is another block. */
  char* whole = map(NULL, 16 * kPage, kAccess, 0);
  check(munmap(whole + 4 * kPage, 4 * kPage));
  check(munmap(whole, 16 * kPage));
  /* Only the accessible part of reserved addresses is a block. */
  char* reserved = map(NULL, 1 << 30, PROT_NONE, 0);
  check(mprotect(reserved + kPage, 2 * kPage, kAccess));
  check(mprotect(reserved + kPage, kPage, PROT_READ));
  check(mprotect(reserved + 2 * kPage, kPage, PROT_NONE));
  /* A new mapping replaces the accessible part. */
  map(reserved, 3 * kPage, kAccess, MAP_FIXED);
  check(munmap(reserved, 1 << 30));
  char* moved = mremap(map(NULL, 2 * kPage, kAccess, 0), 2 * kPage, 8 * kPage, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED || mremap(moved, 8 * kPage, SIZE_MAX / 2, 0) != MAP_FAILED) abort();
  moved = mremap(moved, 8 * kPage, kPage, 0);
  check(munmap(moved, kPage));
  /* The mappings of malloc() are not recorded. */
  free(malloc(64 << 20));
}

static int child(const char* program) {
  void* inherited = malloc(kMark);
  const pid_t pid = fork();
  if (pid == 0) {
    free(inherited); /* allocated before the recording of the child */
    mark(20);
    if (program != NULL) execlp(program, program, "mark", (char*)NULL);
    exit(3);
  }
  free(inherited);
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  int code = 0;
  for (int i = 1; i < argc; ++i) {
    const char* mode = argv[i];
    if (strcmp(mode, "mark") == 0)
      mark(10);
    else if (strcmp(mode, "threads") == 0)
      threads(4);
    else if (strcmp(mode, "many-threads") == 0)
      many_threads();
    else if (strcmp(mode, "aligned") == 0)
      aligned();
    else if (strcmp(mode, "mappings") == 0)
      mappings();
    else if (strcmp(mode, "fork") == 0)
      code = child(NULL);
    else if (strcmp(mode, "exec") == 0)
      code = child(argv[0]);
    else if (strcmp(mode, "close") == 0)
      for (int file = 3; file < 100; ++file) close(file);
    else if (strcmp(mode, "kill") == 0)
      raise(SIGKILL);
    else if (strcmp(mode, "abort") == 0)
      abort();
    else
      return 2;
  }
  puts("done");
  return code;
}
