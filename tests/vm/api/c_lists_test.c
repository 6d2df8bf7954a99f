// Tests strings, sequences and optionals of the C API from a C program.
#include <stdio.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static void run_strings(const char* path) {
  const char* words[] = {"one", "t\0wo"};
  size_t sizes[] = {3, 4};
  int64_t shape[] = {2};
  int64_t bad_shape[] = {-2};
  scopevm_strings strings = {words, sizes, shape, 1};
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  OK(scopevm_session_create(module, NULL, &session));
  OK(scopevm_call_create(session, &call));
  FAILS(scopevm_call_set_input_strings(call, "z", &strings), 12, "no input \"z\"");
  strings.dims = bad_shape;
  FAILS(scopevm_call_set_input_strings(call, "x", &strings), 10, "-2");
  strings.dims = shape;
  FAILS(scopevm_call_set_sequence_strings(call, "x", &strings, 1), 10, "given a sequence");
  OK(scopevm_call_set_input_strings(call, "x", &strings));
  OK(scopevm_call_run(call, NULL));
  EXPECT(scopevm_session_running_threads(session) == 1);
  const int64_t* dims = NULL;
  size_t rank = 0, size = 0;
  const char* text = NULL;
  OK(scopevm_call_output_dims(call, 0, 0, &dims, &rank));
  EXPECT(rank == 1 && dims[0] == 2);
  OK(scopevm_call_output_string(call, 0, 0, 1, &text, &size));
  EXPECT(size == 4 && memcmp(text, "T\0WO", 4) == 0);
  FAILS(scopevm_call_output_string(call, 0, 0, 2, &text, &size), 12, "2 strings");
  FAILS(scopevm_call_output_string(call, 0, 1, 0, &text, &size), 12, "1 element");
  FAILS(scopevm_call_output_string(call, 1, 0, 0, &text, &size), 12, "1 result");
  DLManagedTensor* result = NULL;
  FAILS(scopevm_call_output(call, 0, &result), 20, "DLPack does not support string tensors");
  strings.sizes = NULL;
  const char* missing[] = {"one", NULL};
  strings.strings = missing;
  FAILS(scopevm_call_set_input_strings(call, "x", &strings), 10, "string 1 is NULL");
  strings.strings = NULL;
  FAILS(scopevm_call_set_input_strings(call, "x", &strings), 10, "the array of strings is NULL");
  strings.strings = words;
  OK(scopevm_call_set_input_strings(call, "x", &strings));
  OK(scopevm_call_run(call, NULL));
  OK(scopevm_call_output_string(call, 0, 0, 1, &text, &size));
  EXPECT(size == 1 && text[0] == 'T');
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
}

static void run_string_sequences(const char* path) {
  const char* words[] = {"one", "", "one"};
  int64_t two[] = {2}, one[] = {1};
  scopevm_strings strings[] = {{words, NULL, two, 1}, {words + 2, NULL, one, 1}};
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  OK(scopevm_session_create(module, NULL, &session));
  scopevm_module_free(module);
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_sequence_strings(call, "xs", strings, 2));
  OK(scopevm_call_set_input_strings(call, "o", &strings[1]));
  OK(scopevm_call_run(call, NULL));
  const int64_t* dims = NULL;
  size_t rank = 0, size = 0;
  const char* text = NULL;
  OK(scopevm_call_output_dims(call, 0, 0, &dims, &rank));
  EXPECT(rank == 1 && dims[0] == 2);
  OK(scopevm_call_output_string(call, 0, 0, 1, &text, &size));
  EXPECT(size == 0);
  OK(scopevm_call_output_string(call, 0, 1, 0, &text, &size));
  EXPECT(size == 3 && memcmp(text, "one", 3) == 0);
  FAILS(scopevm_call_output_string(call, 0, 2, 0, &text, &size), 12, "2 elements");
  OK(scopevm_call_output_string(call, 1, 0, 0, &text, &size));
  EXPECT(size == 3 && memcmp(text, "one", 3) == 0);
  scopevm_call_free(call);
  scopevm_session_free(session);
}

static void run_sequences(const char* path) {
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  scopevm_value_info info = {sizeof(scopevm_value_info)};
  OK(scopevm_module_input(module, 0, &info));
  EXPECT(info.kind == SCOPEVM_SEQUENCE);
  OK(scopevm_module_output(module, 1, &info));
  EXPECT(info.kind == SCOPEVM_OPTIONAL);
  OK(scopevm_session_create(module, NULL, &session));
  scopevm_module_free(module);
  OK(scopevm_call_create(session, &call));
  float data[] = {1, 2, 3, 4};
  int64_t shape[] = {4};
  DLTensor tensor = floats(data, shape);
  tensor.ndim = 1;
  const DLTensor* elements[] = {&tensor, &tensor};
  FAILS(scopevm_call_set_sequence(call, "o", elements, 2), 10, "given a sequence");
  FAILS(scopevm_call_set_input(call, "xs", &tensor), 10, "expected a sequence");
  OK(scopevm_call_set_sequence(call, "xs", elements, 2));
  OK(scopevm_call_set_no_value(call, "o"));
  OK(scopevm_call_run(call, NULL));
  size_t size = 0;
  int has_value = 2;
  OK(scopevm_call_output_size(call, 0, &size, NULL));
  EXPECT(size == 2);
  OK(scopevm_call_output_size(call, 1, &size, &has_value));
  EXPECT(size == 0 && has_value == 0);
  DLManagedTensor* result = NULL;
  FAILS(scopevm_call_output(call, 0, &result), 10, "is a list");
  FAILS(scopevm_call_output_element(call, 0, 2, &result), 12, "2 elements");
  OK(scopevm_call_output_element(call, 0, 1, &result));
  EXPECT(((float*)result->dl_tensor.data)[3] == 4);
  result->deleter(result);
  OK(scopevm_call_set_input(call, "o", &tensor));
  OK(scopevm_call_run(call, NULL));
  OK(scopevm_call_output_size(call, 1, &size, &has_value));
  EXPECT(size == 1 && has_value == 1);
  scopevm_call_free(call);
  scopevm_session_free(session);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  run_sequences(argv[1]);
  run_strings(argv[2]);
  run_string_sequences(argv[3]);
  return failures == 0 ? 0 : 1;
}
