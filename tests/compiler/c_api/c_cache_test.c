// The cache of the C API of the compiler: progress, cancellation, and files that change.
#include <stdlib.h>
#include <unistd.h>

#include "scopevm/c/compiler.h"
#include "tests/compiler/c_api/equal_modules.h"
#include "tests/vm/api/expect.h"

#define DISTANCE SCOPEVM_SOURCE_DIR "/examples/distance/distance.mlir"

static scopevm_compiler* new_compiler(void) {
  scopevm_compiler* compiler = NULL;
  OK(scopevm_compiler_create(&compiler));
  return compiler;
}

typedef struct Progress {
  int cancels;
  int calls;
} Progress;

static int on_progress(void* context, const char* stage, int64_t done, int64_t total) {
  Progress* progress = context;
  ++progress->calls;
  EXPECT(done == 0 && total == 0 && strcmp(stage, "cache") == 0);
  return progress->cancels;
}

// A module of the cache: progress and cancellation.
static void check_cache(void) {
  char folder[] = "/tmp/c_compiler_test_XXXXXX";
  EXPECT(mkdtemp(folder) != NULL);
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* compiled = NULL;
  OK(scopevm_compiler_set(compiler, "cache", folder));
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  EXPECT(scopevm_compiled_is_cached(compiled) == 0);
  scopevm_compiled_free(compiled);
  compiled = NULL;
  scopevm_compiler_cancel(compiler);
  FAILS(scopevm_compile_file(compiler, DISTANCE, &compiled), SCOPEVM_CANCELLED, "cancelled");
  Progress progress = {1, 0};
  OK(scopevm_compiler_set_progress(compiler, on_progress, &progress));
  FAILS(scopevm_compile_file(compiler, DISTANCE, &compiled), SCOPEVM_CANCELLED, "cancelled");
  progress.cancels = 0;
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  EXPECT(scopevm_compiled_is_cached(compiled) == 1 && progress.calls == 2);
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  EXPECT(system(command) == 0);
}

// A file that is replaced as soon as its compilation begins: the entry has the key of the compiled
// bytes.
static int on_progress_replace(void* context, const char* stage, int64_t done, int64_t total) {
  (void)done;
  (void)total;
  if (strcmp(stage, "cache") != 0) return 0;
  FILE* file = fopen(context, "wb");
  EXPECT(file != NULL && fputs("func.func @main() { return }", file) >= 0);
  fclose(file);
  return 0;
}

static void check_cache_of_changed_file(void) {
  char folder[] = "/tmp/c_compiler_test_XXXXXX";
  EXPECT(mkdtemp(folder) != NULL);
  char path[64], command[64];
  snprintf(path, sizeof path, "%s/model.mlir", folder);
  static char bytes[1 << 16];
  FILE* file = fopen(DISTANCE, "rb");
  EXPECT(file != NULL);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  file = fopen(path, "wb");
  EXPECT(file != NULL && fwrite(bytes, 1, size, file) == size);
  fclose(file);
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* first = NULL;
  scopevm_compiled* second = NULL;
  OK(scopevm_compiler_set(compiler, "cache", folder));
  OK(scopevm_compiler_set_progress(compiler, on_progress_replace, path));
  OK(scopevm_compile_file(compiler, path, &first));
  OK(scopevm_compile_bytes(compiler, bytes, size, path, &second));
  EXPECT(scopevm_compiled_is_cached(first) == 0 && scopevm_compiled_is_cached(second) == 1);
  EXPECT(have_equal_bytes(first, second));
  scopevm_compiled_free(first);
  scopevm_compiled_free(second);
  scopevm_compiler_free(compiler);
  snprintf(command, sizeof command, "rm -r %s", folder);
  EXPECT(system(command) == 0);
}

int main(void) {
  check_cache();
  check_cache_of_changed_file();
  return failures != 0;
}
