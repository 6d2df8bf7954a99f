// A stand-in for Triton: it implements the functions of plugins/triton/api.h that the back end
// calls, and counts every object. The program exports them; the back end is loaded with RTLD_LOCAL.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugins/triton/api.h"

namespace scopevm::triton_test {

using Shape = std::vector<int64_t>;

// The live objects that the back end must delete.
struct Live {
  std::atomic<int> errors = 0;
  std::atomic<int> messages = 0;
  std::atomic<int> responses = 0;
  std::atomic<int> attributes = 0;
};
Live& live();

// What the server does other than usual. Tests set it before they call the back end.
struct Behaviour {
  uint32_t major = 1;
  uint32_t minor = 19;
  std::set<std::string> failing;  // names of functions that fail
  bool has_gpu_inputs = false;
  bool has_gpu_outputs = false;
  bool has_null_outputs = false;
  bool has_misaligned_outputs = false;
  std::map<std::string, int> added_bytes;  // to the size of an input
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  TRITONBACKEND_ArtifactType artifacts = TRITONBACKEND_ARTIFACT_FILESYSTEM;
};
Behaviour& behaviour();

// The error of a function in Behaviour::failing; else null.
TRITONSERVER_Error* failure_of(const char* function);

// Log messages since the last call.
std::vector<std::string> take_log();

struct Value {
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  Shape shape;
  std::string bytes;
};

// The response of a request.
struct Answer {
  int responses = 0;
  int releases = 0;
  int reports = 0;                // of statistics
  bool success = false;           // that the statistics report
  uint64_t compute_start_ns = 0;  // equal for requests that ran in one call
  TRITONSERVER_Error_Code code = TRITONSERVER_ERROR_UNKNOWN;
  std::string error;  // empty: success
  std::map<std::string, Value> outputs;
  std::map<std::string, Value> states;
};

Value floats(const Shape& shape, const std::vector<float>& values);
std::vector<float> floats_of(const Value& value);
Value strings(const Shape& shape, const std::vector<std::string>& values);

}  // namespace scopevm::triton_test

// A tensor of a response or a state. The buffer starts after a byte if it is misaligned.
struct TRITONBACKEND_Output {
  std::string name;
  scopevm::triton_test::Value value;
  std::vector<char> buffer;
  size_t offset = 0;
};

struct TRITONBACKEND_State : TRITONBACKEND_Output {
  TRITONBACKEND_Request* request = nullptr;
};

struct TRITONBACKEND_Input {
  std::string name;
  scopevm::triton_test::Value value;
  std::vector<std::string> buffers;
};

struct TRITONBACKEND_Request {
  // Adds an input in `buffers` buffers of about equal sizes.
  TRITONBACKEND_Request& input(const std::string& name, scopevm::triton_test::Value value,
                               int buffers = 1);
  TRITONBACKEND_Request& output(const std::string& name);

  std::vector<std::unique_ptr<TRITONBACKEND_Input>> inputs;
  std::vector<std::string> outputs;
  uint64_t timeout_us = 0;
  std::atomic<bool> is_cancelled = false;
  // The client cancels the request after this number of queries; below 0: never.
  std::atomic<int> queries_until_cancelled = -1;
  std::vector<std::unique_ptr<TRITONBACKEND_State>> states;
  scopevm::triton_test::Answer answer;
};

struct TRITONBACKEND_Model {
  std::string folder;
  uint64_t version = 1;
  std::string config;
  bool completes = false;
  void* state = nullptr;
};

struct TRITONBACKEND_ModelInstance {
  TRITONBACKEND_Model* model = nullptr;
  void* state = nullptr;
  std::vector<uint64_t> batches;     // that the statistics report
  std::atomic<int64_t> memory = -1;  // bytes that were reported
};

struct TRITONBACKEND_BackendAttribute {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  bool loads_in_parallel = false;
};

// Fails if the test has the function fail.
#define INJECT() \
  if (TRITONSERVER_Error* injected = scopevm::triton_test::failure_of(__func__)) return injected
