// Makes pthread_create() fail while $MAX_THREADS threads run that it created before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void* (*Function)(void*);
typedef int (*Create)(pthread_t*, const pthread_attr_t*, Function, void*);

struct start {
  Function function;
  void* argument;
};

static atomic_int running;

static void* run(void* argument) {
  const struct start start = *(struct start*)argument;
  free(argument);
  void* result = start.function(start.argument);
  atomic_fetch_sub(&running, 1);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Function function,
                   void* argument) {
  const char* limit = getenv("MAX_THREADS");
  if (limit != NULL && atomic_load(&running) >= atoi(limit)) return EAGAIN;
  struct start* start = malloc(sizeof *start);
  if (start == NULL) return EAGAIN;
  start->function = function;
  start->argument = argument;
  atomic_fetch_add(&running, 1);
  const int error = ((Create)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, start);
  if (error != 0) {
    atomic_fetch_sub(&running, 1);
    free(start);
  }
  return error;
}
