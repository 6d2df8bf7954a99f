/* A cache server whose allocations docs/memory-lab.md records: cache_server REQUESTS
 *
 * Serves objects of 100 bytes to 400 KiB over TCP and keeps the recently used ones, up to 32 MiB. A
 * child process is the client: it requests objects with a skewed distribution, and one large report
 * after every 2000 requests. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBuckets = 4096, kKeys = 20000, kReportKey = -1 };
static const size_t kCacheBytes = (size_t)32 << 20;
static const size_t kReportBytes = (size_t)24 << 20;

typedef struct Object {
  struct Object *newer, *older, *next_in_bucket;
  char* key;
  char* value;
  size_t bytes;
} Object;

static Object* buckets[kBuckets];
static Object *newest, *oldest;
static size_t cached_bytes;

static uint64_t random_state = 1;
static double next_random(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / (double)((uint64_t)1 << 53);
}

static unsigned hash(const char* key) {
  unsigned value = 2166136261u;
  for (; *key != '\0'; ++key) value = (value ^ (unsigned char)*key) * 16777619u;
  return value;
}

/* The size of an object depends on its key only: log-uniform from 100 bytes to 400 KiB. */
static size_t size_of(const char* key) {
  return (size_t)(100 * pow(4096, (hash(key) >> 8 & 0xffff) / 65536.0));
}

static void unlink_object(Object* object) {
  *(object->newer != NULL ? &object->newer->older : &newest) = object->older;
  *(object->older != NULL ? &object->older->newer : &oldest) = object->newer;
}

static void push_newest(Object* object) {
  object->newer = NULL;
  object->older = newest;
  *(newest != NULL ? &newest->newer : &oldest) = object;
  newest = object;
}

static void evict(Object* object) {
  Object** link = &buckets[hash(object->key) % kBuckets];
  while (*link != object) link = &(*link)->next_in_bucket;
  *link = object->next_in_bucket;
  unlink_object(object);
  cached_bytes -= object->bytes;
  free(object->key);
  free(object->value);
  free(object);
}

static Object* find_or_create(const char* key) {
  Object** bucket = &buckets[hash(key) % kBuckets];
  for (Object* object = *bucket; object != NULL; object = object->next_in_bucket)
    if (strcmp(object->key, key) == 0) {
      unlink_object(object);
      push_newest(object);
      return object;
    }
  Object* object = malloc(sizeof(*object));
  object->key = strdup(key);
  object->bytes = size_of(key);
  object->value = malloc(object->bytes);
  memset(object->value, 'x', object->bytes);
  object->next_in_bucket = *bucket;
  *bucket = object;
  push_newest(object);
  cached_bytes += object->bytes;
  while (cached_bytes > kCacheBytes) evict(oldest);
  return object;
}

static void send_all(int connection, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) exit(1);
    bytes += sent;
    size -= (size_t)sent;
  }
}

/* Answers one request with a header line and the object. */
static void answer(int connection, const char* line) {
  char* key = strdup(line);
  char* value = NULL;
  size_t bytes = kReportBytes;
  if (atoi(key) == kReportKey) {
    value = calloc(1, bytes);
  } else {
    const Object* object = find_or_create(key);
    bytes = object->bytes;
    value = malloc(bytes);
    memcpy(value, object->value, bytes);
  }
  char* header = malloc(64);
  snprintf(header, 64, "%zu\n", bytes);
  send_all(connection, header, strlen(header));
  send_all(connection, value, bytes);
  free(header);
  free(value);
  free(key);
}

static void run_client(struct sockaddr_in address, int requests) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection, (struct sockaddr*)&address, sizeof(address)) != 0) exit(1);
  FILE* answers = fdopen(dup(connection), "r");
  static char buffer[1 << 16];
  size_t total = 0;
  for (int i = 1; i <= requests; ++i) {
    const double rank = next_random() * next_random() * next_random();
    dprintf(connection, "%d\n", i % 2000 == 0 ? kReportKey : (int)(rank * kKeys));
    if (fgets(buffer, sizeof(buffer), answers) == NULL) exit(1);
    size_t rest = strtoull(buffer, NULL, 10);
    total += rest;
    while (rest > 0) {
      const size_t count = fread(buffer, 1, rest < sizeof(buffer) ? rest : sizeof(buffer), answers);
      if (count == 0) exit(1);
      rest -= count;
    }
  }
  printf("%d requests, %zu bytes\n", requests, total);
  fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0)
    return 1;
  if (fork() == 0) run_client(address, atoi(argv[1]));
  const int connection = accept(listener, NULL, NULL);
  /* Without this option, each answer waits for the acknowledgement of its header. */
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  FILE* requests = fdopen(dup(connection), "r");
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, requests) > 0) {
    line[strcspn(line, "\n")] = '\0';
    answer(connection, line);
  }
  free(line);
  fclose(requests);
  wait(NULL);
  return 0;
}
