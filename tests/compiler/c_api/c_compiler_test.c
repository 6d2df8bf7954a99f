// The C API of the compiler: options by name, models in files and in memory, diagnostics, progress
// and cancellation, and NULL arguments. CMakeLists.txt checks that this file calls every function.
#include "scopevm/c/compiler.h"
#include "tests/compiler/c_api/equal_modules.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/vm/api/expect.h"

#define DISTANCE SCOPEVM_SOURCE_DIR "/examples/distance/distance.mlir"
#define DIGITS SCOPEVM_SOURCE_DIR "/examples/digits/digits.onnx"
#define MODELS SCOPEVM_SOURCE_DIR "/tests/frontend/models/"
#define MACHINE SCOPEVM_SOURCE_DIR "/tests/tools/data/two_devices.json"

// The bytes of a file; exits if it cannot be read.
static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char* bytes = malloc(*size + 1);
  if (fread(bytes, 1, *size, file) != *size) exit(2);
  fclose(file);
  return bytes;
}

static scopevm_compiler* new_compiler(void) {
  scopevm_compiler* compiler = NULL;
  OK(scopevm_compiler_create(&compiler));
  return compiler;
}

// A valid value of each option, and an invalid one; NULL: each text is valid.
static const struct {
  const char* name;
  const char* value;
  const char* invalid;
} kOptions[] = {
    {"dim", "n=1..512", "n<5"},
    {"keep-output", "distance", NULL},
    {"state", "", NULL},
    {"variant", "n=1", "n"},
    {"target-cpu", "x86-64-v3", "pentium9"},
    {"machine", MACHINE, "no_such_file.json"},
    {"place", "input:x=cpu", "cpu"},
    {"split", "tensor=2,pipeline=2", "pipeline"},
    {"allow-unmatched", "true", "yes"},
    {"external-functions", DISTANCE, "no_such_file.mlir"},
    {"allow-newer-opset", "true", "yes"},
    {"freeze-inputs", "true", "yes"},
    {"float-products", "true", "yes"},
    {"dump-after", "graph", "graphs"},
    {"threads", "2", "-1"},
    {"inline-limit", "0", "many"},
    {"reorder", "false", ""},
    {"image-layout", "blocked", "block"},
    {"fast-conv", "true", "1"},
    {"cache", "", NULL},
    {"crash-reproducer", "", NULL},
};
enum { kOptionCount = sizeof kOptions / sizeof kOptions[0] };

static void check_all_options(void) {
  scopevm_compiler* compiler = new_compiler();
  EXPECT(scopevm_compiler_option_count() == kOptionCount);
  for (size_t i = 0; i < kOptionCount; ++i) {
    scopevm_option_info info = {.struct_size = sizeof info};
    OK(scopevm_compiler_option(i, &info));
    EXPECT(strcmp(info.name, kOptions[i].name) == 0);
    EXPECT(info.description[0] != 0);
    EXPECT((info.kind == SCOPEVM_OPTION_CHOICE) == (info.choice_count > 0));
    OK(scopevm_compiler_set(compiler, info.name, kOptions[i].value));
    if (kOptions[i].invalid == NULL) continue;
    char context[64];
    snprintf(context, sizeof context, "compile option \"%s\": ", info.name);
    const int code =
        info.kind == SCOPEVM_OPTION_FILE ? SCOPEVM_NOT_FOUND : SCOPEVM_INVALID_ARGUMENT;
    FAILS(scopevm_compiler_set(compiler, info.name, kOptions[i].invalid), code, context);
  }
  scopevm_compiler_free(compiler);
}

static void check_errors_of_options(void) {
  scopevm_compiler* compiler = new_compiler();
  FAILS(scopevm_compiler_set(compiler, "image-layuot", "auto"), SCOPEVM_INVALID_ARGUMENT,
        "unknown compile option \"image-layuot\"; did you mean \"image-layout\"?");
  FAILS(scopevm_compiler_set(compiler, "image-layout", "blocke"), SCOPEVM_INVALID_ARGUMENT,
        "compile option \"image-layout\": \"blocke\": unknown value; did you mean \"blocked\"?");
  FAILS(scopevm_compiler_set(compiler, "dim", "n<5"), SCOPEVM_INVALID_ARGUMENT,
        "compile option \"dim\": \"n<5\": bounds are inclusive: use <=");
  FAILS(scopevm_compiler_set(compiler, "dim", "n==4"), SCOPEVM_INVALID_ARGUMENT,
        "compile option \"dim\": \"n==4\": expected n=4, n=1..512");
  FAILS(scopevm_compiler_set(compiler, "place", "conv"), SCOPEVM_INVALID_ARGUMENT,
        "compile option \"place\": \"conv\": expected PATTERN=PLACE, such as");
  FAILS(scopevm_compiler_set(compiler, "target-cpu", "x86-64-v3,+quick"), SCOPEVM_INVALID_ARGUMENT,
        "compile option \"target-cpu\": unknown CPU feature \"+quick\"");
  // Control characters are escaped.
  FAILS(scopevm_compiler_set(compiler, "dim", "n\033=1x"), SCOPEVM_INVALID_ARGUMENT,
        "\"n\\x1b=1x\": \"1x\" is not a 64-bit integer");
  FAILS(scopevm_compiler_set(compiler, "target-cpu", "a\033"), SCOPEVM_INVALID_ARGUMENT,
        "unknown target CPU \"a\\x1b\"");
  // The values of a list are combined when a model is compiled: the second one can follow.
  scopevm_compiled* none = NULL;
  OK(scopevm_compiler_set(compiler, "dim", "n>=3000000000"));
  FAILS(scopevm_compile_file(compiler, DISTANCE, &none), SCOPEVM_INVALID_ARGUMENT,
        "compile options: dim \"n>=3000000000\": no value satisfies all bounds");
  EXPECT(scopevm_compiler_diagnostic_count(compiler) == 1);
  OK(scopevm_compiler_set(compiler, "dim", "n<=4000000000"));
  OK(scopevm_compiler_set(compiler, "variant", "n=1"));
  FAILS(scopevm_compile_file(compiler, DISTANCE, &none), SCOPEVM_INVALID_ARGUMENT,
        "compile options: variant \"n>=3000000000,n<=4000000000,n=1\": no value satisfies");
  FAILS(scopevm_compiler_set(compiler, "fast-conv", "1"), SCOPEVM_INVALID_ARGUMENT,
        "\"1\": expected true or false");
  FAILS(scopevm_compiler_set(compiler, "machine", SCOPEVM_SOURCE_DIR), SCOPEVM_NOT_FOUND,
        ": cannot read: Is a directory");
  FAILS(scopevm_compiler_set_contents(compiler, "reorder", "true", 4, "x"),
        SCOPEVM_INVALID_ARGUMENT, "the value of compile option \"reorder\" is not a file");
  scopevm_option_info info = {.struct_size = sizeof info};
  FAILS(scopevm_compiler_option(kOptionCount, &info), SCOPEVM_NOT_FOUND, "no option");
  info.struct_size = 1;
  FAILS(scopevm_compiler_option(0, &info), SCOPEVM_INVALID_ARGUMENT, "struct_size");
  scopevm_compiler_free(compiler);
}

// An empty value resets texts, lists and files.
static void check_reset(void) {
  scopevm_compiler* compiler = new_compiler();
  const char* settings[][2] = {{"dim", "no_such=4"},        {"variant", "no_such=4"},
                               {"keep-output", "no_such"},  {"target-cpu", "x86-64"},
                               {"place", "no_such=cpu"},    {"machine", DISTANCE},
                               {"dump-after", "sv-no_such"}};
  scopevm_compiled* initial = NULL;
  scopevm_compiled* reset = NULL;
  OK(scopevm_compile_file(compiler, DISTANCE, &initial));
  const size_t count = sizeof settings / sizeof settings[0];
  for (size_t i = 0; i < count; ++i)
    OK(scopevm_compiler_set(compiler, settings[i][0], settings[i][1]));
  FAILS(scopevm_compile_file(compiler, DISTANCE, &reset), SCOPEVM_INVALID_ARGUMENT,
        "unknown stage or pass \"sv-no_such\"");
  for (size_t i = 0; i < count; ++i) OK(scopevm_compiler_set(compiler, settings[i][0], ""));
  OK(scopevm_compile_file(compiler, DISTANCE, &reset));
  EXPECT(have_equal_bytes(initial, reset));
  scopevm_compiled_free(initial);
  scopevm_compiled_free(reset);
  scopevm_compiler_free(compiler);
}

// The module of a model in memory equals that of the file, and the options have an effect.
static void check_models_in_memory(void) {
  scopevm_compiler* compiler = new_compiler();
  const char* paths[] = {DISTANCE, DIGITS, MODELS "external_data.onnx"};
  for (size_t i = 0; i < 3; ++i) {
    scopevm_compiled* file = NULL;
    scopevm_compiled* memory = NULL;
    size_t size = 0;
    char* bytes = read_file(paths[i], &size);
    OK(scopevm_compile_file(compiler, paths[i], &file));
    OK(scopevm_compile_bytes(compiler, bytes, size, paths[i], &memory));
    EXPECT(scopevm_compiled_size(file) > 0);
    EXPECT(scopevm_compiled_size(file) == scopevm_compiled_size(memory));
    EXPECT(memcmp(scopevm_compiled_bytes(file), scopevm_compiled_bytes(memory),
                  scopevm_compiled_size(file)) == 0);
    EXPECT((uintptr_t)scopevm_compiled_bytes(file) % 64 == 0);
    EXPECT(scopevm_compiled_is_cached(file) == 0);
    scopevm_compiled_free(memory);
    memory = NULL;
    // Without a name, the contents select the format, and there is no folder of external data.
    if (i < 2)
      OK(scopevm_compile_bytes(compiler, bytes, size, NULL, &memory));
    else
      FAILS(scopevm_compile_bytes(compiler, bytes, size, NULL, &memory), SCOPEVM_INVALID_MODEL,
            "model: tensor \"w\": external data");
    scopevm_compiled_free(memory);
    scopevm_compiled_free(file);
    free(bytes);
  }
  scopevm_compiled* none = NULL;
  FAILS(scopevm_compile_bytes(compiler, NULL, 0, "x.onnx", &none), SCOPEVM_INVALID_MODEL,
        "x.onnx: is empty");
  FAILS(scopevm_compile_bytes(compiler, "\x08garbage", 8, NULL, &none), SCOPEVM_INVALID_MODEL,
        "model: not an ONNX model");
  EXPECT(none == NULL);
  scopevm_compiler_free(compiler);
}

static void check_written_file(void) {
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* compiled = NULL;
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  char path[] = "/tmp/c_compiler_test_XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0);
  OK(scopevm_compiled_write(compiled, path));
  size_t size = 0;
  char* bytes = read_file(path, &size);
  EXPECT(size == scopevm_compiled_size(compiled));
  EXPECT(memcmp(bytes, scopevm_compiled_bytes(compiled), size) == 0);
  free(bytes);
  remove(path);
  FAILS(scopevm_compiled_write(compiled, "/no_such_folder/m.bc"), SCOPEVM_INVALID_ARGUMENT,
        "/no_such_folder/m.bc");
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
}

static scopevm_diagnostic_info diagnostic(const scopevm_compiler* compiler, size_t index) {
  scopevm_diagnostic_info info = {.struct_size = sizeof info};
  OK(scopevm_compiler_diagnostic(compiler, index, &info));
  return info;
}

static void check_diagnostics(void) {
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* none = NULL;
  // An error with a line.
  const char* graph =
      "func.func @main(%x: !sv.tensor<[4], f32>) -> !sv.tensor<[4], f32> {\n"
      "  %y = sv.no_such_op %x : !sv.tensor<[4], f32>\n"
      "  return %y : !sv.tensor<[4], f32>\n}\n";
  FAILS(scopevm_compile_bytes(compiler, graph, strlen(graph), "g.mlir", &none),
        SCOPEVM_INVALID_MODEL, "g.mlir:");
  EXPECT(scopevm_compiler_diagnostic_count(compiler) >= 1);
  scopevm_diagnostic_info info = diagnostic(compiler, 0);
  EXPECT(info.severity == SCOPEVM_DIAGNOSTIC_ERROR);
  EXPECT(strcmp(info.file, "g.mlir") == 0 && info.line >= 1 && info.column >= 1);
  EXPECT(strstr(info.text, "g.mlir") == NULL && info.text[0] != 0);

  // An error with a node.
  FAILS(
      scopevm_compile_file(compiler, SCOPEVM_SOURCE_DIR "/tests/tools/data/unknown_op.onnx", &none),
      SCOPEVM_UNSUPPORTED, "unknown_op.onnx: node ");
  EXPECT(scopevm_compiler_diagnostic_count(compiler) == 1);
  info = diagnostic(compiler, 0);
  EXPECT(strstr(info.file, "unknown_op.onnx") != NULL && info.node[0] != 0 && info.line == 0);

  // Errors without a model.
  FAILS(scopevm_compile_file(compiler, "no_such_model.onnx", &none), SCOPEVM_NOT_FOUND,
        "no_such_model.onnx: no such file");
  FAILS(scopevm_compile_file(compiler, "no\033.onnx", &none), SCOPEVM_NOT_FOUND,
        "no\\x1b.onnx: no such file");
  FAILS(scopevm_compile_file(compiler, "no_such_model.onnx", &none), SCOPEVM_NOT_FOUND,
        "no_such_model.onnx: no such file");
  info = diagnostic(compiler, 0);
  EXPECT(strcmp(info.file, "no_such_model.onnx") == 0 && strcmp(info.text, "no such file") == 0);
  OK(scopevm_compiler_set_contents(compiler, "machine", "{", 1, "m.json"));
  FAILS(scopevm_compile_file(compiler, DISTANCE, &none), SCOPEVM_INVALID_MODEL, "m.json");
  EXPECT(scopevm_compiler_diagnostic_count(compiler) == 1);
  scopevm_compiler_free(compiler);

  // A warning, and no diagnostics of an earlier compilation.
  compiler = new_compiler();
  OK(scopevm_compiler_set(compiler, "place", "no_such_node=cpu"));
  OK(scopevm_compiler_set(compiler, "allow-unmatched", "true"));
  scopevm_compiled* compiled = NULL;
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  EXPECT(scopevm_compiler_diagnostic_count(compiler) == 1);
  info = diagnostic(compiler, 0);
  EXPECT(info.severity == SCOPEVM_DIAGNOSTIC_WARNING);
  EXPECT(strstr(info.text, "rule matches no op or value") != NULL);
  FAILS(scopevm_compiler_diagnostic(compiler, 1, &info), SCOPEVM_NOT_FOUND, "no diagnostic 1");
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
}

typedef struct Progress {
  scopevm_compiler* compiler;
  const char* stage;  // at which the compilation is cancelled; NULL: not
  int by_thread;      // by another thread, else by the result of the function
  int calls;
  size_t dumped;  // number of characters
} Progress;

static void* cancel(void* compiler) {
  scopevm_compiler_cancel(compiler);
  return NULL;
}

static int on_progress(void* context, const char* stage, int64_t done, int64_t total) {
  Progress* progress = context;
  ++progress->calls;
  EXPECT(done >= 0 && done <= total);
  if (progress->stage == NULL || strcmp(stage, progress->stage) != 0) return 0;
  if (!progress->by_thread) return 1;
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, cancel, progress->compiler) == 0);
  pthread_join(thread, NULL);
  return 0;
}

static void on_dump(void* context, const char* text, size_t size) {
  (void)text;
  ((Progress*)context)->dumped += size;
}

static void check_progress_and_cancel(void) {
  const char* stages[] = {"frontend", "graph",  "placement", "fusion",  "kernels",
                          "shapes",   "memory", "codegen",   "bytecode"};
  for (size_t i = 0; i < 2 * sizeof stages / sizeof stages[0]; ++i) {
    scopevm_compiler* compiler = new_compiler();
    Progress progress = {compiler, stages[i / 2], (int)(i % 2), 0, 0};
    OK(scopevm_compiler_set_progress(compiler, on_progress, &progress));
    scopevm_compiled* compiled = NULL;
    FAILS(scopevm_compile_file(compiler, DISTANCE, &compiled), SCOPEVM_CANCELLED,
          "the compilation is cancelled");
    EXPECT(compiled == NULL && progress.calls > 0);
    // The next compilation is not cancelled.
    progress.stage = NULL;
    OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
    scopevm_compiled_free(compiled);
    scopevm_compiler_free(compiler);
  }
  // A request before the start, and dumps.
  scopevm_compiler* compiler = new_compiler();
  Progress progress = {compiler, NULL, 0, 0, 0};
  OK(scopevm_compiler_set_progress(compiler, on_progress, &progress));
  scopevm_compiler_cancel(compiler);
  scopevm_compiled* compiled = NULL;
  FAILS(scopevm_compile_file(compiler, DISTANCE, &compiled), SCOPEVM_CANCELLED, "cancelled");
  OK(scopevm_compiler_set_progress(compiler, NULL, NULL));
  OK(scopevm_compiler_set_dump(compiler, on_dump, &progress));
  OK(scopevm_compiler_set(compiler, "dump-after", "graph"));
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  EXPECT(progress.calls == 1 && progress.dumped > 0);
  scopevm_compiled_free(compiled);
  OK(scopevm_compiler_set_dump(compiler, NULL, NULL));
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
}

// A request to cancel concerns the next compilation only, also if this has an invalid argument.
static void check_cancel_before_errors(void) {
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* compiled = NULL;
  scopevm_compiler_cancel(compiler);
  FAILS(scopevm_compile_bytes(compiler, NULL, 1, NULL, &compiled), SCOPEVM_INVALID_ARGUMENT,
        "NULL");
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  scopevm_compiled_free(compiled);
  compiled = NULL;
  OK(scopevm_compiler_set(compiler, "dim", "n=1"));
  OK(scopevm_compiler_set(compiler, "dim", "n=2"));
  scopevm_compiler_cancel(compiler);
  FAILS(scopevm_compile_file(compiler, DISTANCE, &compiled), SCOPEVM_INVALID_ARGUMENT,
        "no value satisfies all bounds");
  OK(scopevm_compiler_set(compiler, "dim", ""));
  OK(scopevm_compile_file(compiler, DISTANCE, &compiled));
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
}

static void check_null_arguments(void) {
  scopevm_compiler* compiler = new_compiler();
  scopevm_compiled* out = NULL;
  const int code = SCOPEVM_INVALID_ARGUMENT;
  FAILS(scopevm_compiler_create(NULL), code, "NULL");
  FAILS(scopevm_compiler_set(NULL, "dim", "n=1"), code, "NULL");
  FAILS(scopevm_compiler_set(compiler, NULL, "n=1"), code, "NULL");
  FAILS(scopevm_compiler_set(compiler, "dim", NULL), code, "NULL");
  FAILS(scopevm_compiler_set_contents(NULL, "machine", "", 0, ""), code, "NULL");
  FAILS(scopevm_compiler_set_contents(compiler, NULL, "", 0, ""), code, "NULL");
  FAILS(scopevm_compiler_set_contents(compiler, "machine", NULL, 1, ""), code, "NULL");
  FAILS(scopevm_compiler_set_contents(compiler, "machine", "", 0, NULL), code, "NULL");
  FAILS(scopevm_compiler_set_contents(compiler, "machine", "", SIZE_MAX, ""), code,
        "size is 18446744073709551615, expected at most 9223372036854775807");
  FAILS(scopevm_compile_bytes(compiler, "", SIZE_MAX, NULL, &out), code, "size is 18446744073709");
  FAILS(scopevm_compiler_add_library(NULL, NULL), code, "NULL");
  FAILS(scopevm_compiler_add_library(compiler, NULL), code, "NULL");
  FAILS(scopevm_compiler_set_progress(NULL, NULL, NULL), code, "NULL");
  FAILS(scopevm_compiler_set_dump(NULL, NULL, NULL), code, "NULL");
  FAILS(scopevm_compiler_option(0, NULL), code, "NULL");
  FAILS(scopevm_compile_file(NULL, DISTANCE, &out), code, "NULL");
  FAILS(scopevm_compile_file(compiler, NULL, &out), code, "NULL");
  FAILS(scopevm_compile_file(compiler, DISTANCE, NULL), code, "NULL");
  FAILS(scopevm_compile_bytes(NULL, "", 0, NULL, &out), code, "NULL");
  FAILS(scopevm_compile_bytes(compiler, NULL, 1, NULL, &out), code, "NULL");
  FAILS(scopevm_compile_bytes(compiler, "", 0, NULL, NULL), code, "NULL");
  FAILS(scopevm_compiler_diagnostic(NULL, 0, NULL), code, "NULL");
  FAILS(scopevm_compiler_diagnostic(compiler, 0, NULL), code, "NULL");
  FAILS(scopevm_compiled_write(NULL, "x"), code, "NULL");
  EXPECT(scopevm_compiler_version()[0] != 0);
  EXPECT(scopevm_compiler_diagnostic_count(NULL) == 0);
  EXPECT(scopevm_compiled_bytes(NULL) == NULL && scopevm_compiled_size(NULL) == 0);
  EXPECT(scopevm_compiled_is_cached(NULL) == 0);
  scopevm_compiler_cancel(NULL);
  scopevm_compiled_free(NULL);
  scopevm_compiler_free(NULL);
  scopevm_compiler_free(compiler);
}

int main(void) {
  check_all_options();
  check_errors_of_options();
  check_reset();
  check_models_in_memory();
  check_written_file();
  check_diagnostics();
  check_progress_and_cancel();
  check_cancel_before_errors();
  check_null_arguments();
  return failures != 0;
}
