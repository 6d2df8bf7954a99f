// Implements the C API (scopevm/scopevm.h): each handle owns a C++ object.
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"

struct scopevm_status {
  int code;
  std::string message;
};
struct scopevm_module {
  scopevm::Module module;
};
struct scopevm_session {
  scopevm::Session session;
};
struct scopevm_call {
  scopevm::Call call;
};

namespace scopevm {
namespace {

scopevm_status* to_c(const Status& status) {
  if (status.ok()) return nullptr;
  return new scopevm_status{static_cast<int>(status.code()), std::string(status.message())};
}

// Adapts the embedder's parallel_for function to Executor.
class CExecutor final : public Executor {
 public:
  explicit CExecutor(const scopevm_session_options& options)
      : parallel_for_(options.parallel_for),
        executor_(options.executor),
        threads_(options.executor_threads) {}
  int threads() const override { return threads_; }
  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    parallel_for_(executor_, total, grain, body, context);
  }

 private:
  decltype(scopevm_session_options::parallel_for) parallel_for_;
  void* executor_;
  int threads_;
};

// Members that the caller's version of the struct lacks are zero.
scopevm_session_options complete(const scopevm_session_options* given) {
  scopevm_session_options options{};
  if (given != nullptr) std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return options;
}

SessionOptions to_cpp(const scopevm_session_options& options) {
  SessionOptions out;
  // A member that the caller does not set is 0 in the C struct and must mean the default, 1 thread.
  // In SessionOptions, 0 means one thread per core.
  out.threads = options.threads == 0 ? 1 : std::max(options.threads, 0);
  for (size_t i = 0; i < options.limit_count; ++i)
    out.memory_limits.push_back({options.limits[i].scope, options.limits[i].bytes});
  out.emulate = options.emulate != 0;
  if (options.parallel_for != nullptr) out.executor = std::make_shared<CExecutor>(options);
  return out;
}

Result<Tensor> to_tensor(const DLTensor* tensor) {
  if (tensor == nullptr) return Tensor();
  return runtime::borrow_dlpack(*tensor);
}

const char* name_at(const std::vector<TensorSignature>& tensors, size_t index) {
  return index < tensors.size() ? tensors[index].name.c_str() : nullptr;
}

int kind_at(const std::vector<TensorSignature>& tensors, size_t index) {
  return index < tensors.size() ? static_cast<int>(tensors[index].kind) : -1;
}

Result<int64_t> scope_bound(const Module& module, const std::map<std::string, int64_t>& dims,
                            int threads, const std::string& scope) {
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound bound, module.memory_bound(dims, threads));
  int64_t bytes = 0;
  for (const ScopeBound& line : bound.scopes)
    if (line.scope == scope) bytes += line.bytes;
  return bytes;
}

scopevm_status* give_module(Result<Module> module, scopevm_module** out) {
  if (!module.ok()) return to_c(module.status());
  *out = new scopevm_module{*std::move(module)};
  return nullptr;
}

Result<Tensor> to_tensor(const scopevm_strings& given) {
  const std::span<const int64_t> dims(given.dims, given.rank);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(DType::kStr, dims));
  std::vector<std::string_view> strings;
  const auto count = static_cast<size_t>(bytes / byte_size(DType::kStr));
  for (size_t i = 0; i < count; ++i)
    strings.push_back(given.sizes == nullptr ? std::string_view(given.strings[i])
                                             : std::string_view(given.strings[i], given.sizes[i]));
  return Tensor::from_strings(strings, dims);
}

// Tensor `element` of a result of any kind.
Result<const Tensor*> find_element(const Call& call, size_t index, size_t element) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(index));
  if (element < elements.size()) return &elements[element];
  return Status(StatusCode::kNotFound, "no element " + std::to_string(element) +
                                           ": the result has " +
                                           runtime::count_text(elements.size(), "element"));
}

Result<std::string_view> find_text(const Call& call, size_t index, size_t element,
                                   size_t position) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor, find_element(call, index, element));
  if (tensor->dtype() != DType::kStr)
    return Status(
        StatusCode::kInvalidArgument,
        "the result has " + std::string(name(tensor->dtype())) + " elements, expected strings");
  if (position >= static_cast<size_t>(tensor->element_count()))
    return Status(StatusCode::kNotFound,
                  "no string " + std::to_string(position) + ": the tensor has " +
                      runtime::count_text(tensor->element_count(), "string"));
  return tensor->string_at(static_cast<int64_t>(position));
}

}  // namespace
}  // namespace scopevm

using scopevm::to_c;

int scopevm_api_version(void) { return SCOPEVM_API_VERSION; }

int scopevm_status_code(const scopevm_status* status) {
  return status == nullptr ? 0 : status->code;
}

const char* scopevm_status_message(const scopevm_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}

void scopevm_status_free(scopevm_status* status) { delete status; }

scopevm_status* scopevm_module_load(const char* path, scopevm_module** out) {
  return scopevm::give_module(scopevm::Module::load(path), out);
}

scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size, scopevm_module** out) {
  return scopevm::give_module(
      scopevm::Module::load_bytes({static_cast<const uint8_t*>(bytes), size}), out);
}

void scopevm_module_free(scopevm_module* module) { delete module; }

size_t scopevm_module_input_count(const scopevm_module* module) {
  return module->module.signature().inputs.size();
}

size_t scopevm_module_output_count(const scopevm_module* module) {
  return module->module.signature().outputs.size();
}

const char* scopevm_module_input_name(const scopevm_module* module, size_t index) {
  return scopevm::name_at(module->module.signature().inputs, index);
}

const char* scopevm_module_output_name(const scopevm_module* module, size_t index) {
  return scopevm::name_at(module->module.signature().outputs, index);
}

int scopevm_module_input_kind(const scopevm_module* module, size_t index) {
  return scopevm::kind_at(module->module.signature().inputs, index);
}

int scopevm_module_output_kind(const scopevm_module* module, size_t index) {
  return scopevm::kind_at(module->module.signature().outputs, index);
}

scopevm_status* scopevm_module_memory_bound(const scopevm_module* module, const char* const* names,
                                            const int64_t* values, size_t count, int threads,
                                            const char* scope, int64_t* out_bytes) {
  std::map<std::string, int64_t> dims;
  for (size_t i = 0; i < count; ++i) dims[names[i]] = values[i];
  const scopevm::Result<int64_t> bytes = scopevm::scope_bound(module->module, dims, threads, scope);
  if (!bytes.ok()) return to_c(bytes.status());
  *out_bytes = *bytes;
  return nullptr;
}

scopevm_status* scopevm_session_create(const scopevm_module* module,
                                       const scopevm_session_options* options,
                                       scopevm_session** out) {
  scopevm::Result<scopevm::Session> session =
      scopevm::Session::create(module->module, scopevm::to_cpp(scopevm::complete(options)));
  if (!session.ok()) return to_c(session.status());
  *out = new scopevm_session{*std::move(session)};
  return nullptr;
}

void scopevm_session_free(scopevm_session* session) { delete session; }

scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out) {
  *out = new scopevm_call{session->session.make_call()};
  return nullptr;
}

void scopevm_call_free(scopevm_call* call) { delete call; }

scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                       const DLTensor* tensor) {
  scopevm::Result<scopevm::Tensor> borrowed = scopevm::to_tensor(tensor);
  if (!borrowed.ok()) return to_c(borrowed.status());
  return to_c(call->call.set_input(name, *std::move(borrowed)));
}

scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                          const DLTensor* const* tensors, size_t count) {
  std::vector<scopevm::Tensor> elements;
  for (size_t i = 0; i < count; ++i) {
    scopevm::Result<scopevm::Tensor> borrowed = scopevm::to_tensor(tensors[i]);
    if (!borrowed.ok()) return to_c(borrowed.status());
    elements.push_back(*std::move(borrowed));
  }
  return to_c(call->call.set_sequence(name, std::move(elements)));
}

scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                               const scopevm_strings* strings) {
  scopevm::Result<scopevm::Tensor> tensor = scopevm::to_tensor(*strings);
  if (!tensor.ok()) return to_c(tensor.status());
  return to_c(call->call.set_input(name, *std::move(tensor)));
}

scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                  const scopevm_strings* elements, size_t count) {
  std::vector<scopevm::Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    scopevm::Result<scopevm::Tensor> tensor = scopevm::to_tensor(elements[i]);
    if (!tensor.ok()) return to_c(tensor.status());
    tensors.push_back(*std::move(tensor));
  }
  return to_c(call->call.set_sequence(name, std::move(tensors)));
}

scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name) {
  return to_c(call->call.set_no_value(name));
}

scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                        const DLTensor* tensor) {
  scopevm::Result<scopevm::Tensor> borrowed = scopevm::to_tensor(tensor);
  if (!borrowed.ok()) return to_c(borrowed.status());
  return to_c(call->call.set_output(name, *std::move(borrowed)));
}

scopevm_status* scopevm_call_run(scopevm_call* call, int64_t timeout_ms) {
  scopevm::CallOptions options;
  if (timeout_ms > 0)
    options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  return to_c(call->call.run(options));
}

double scopevm_call_emulated_seconds(const scopevm_call* call) {
  return call->call.stats().emulated_seconds;
}

namespace scopevm {
namespace {

scopevm_status* give_tensor(const Tensor& tensor, DLManagedTensor** out) {
  Result<DLManagedTensor*> managed = tensor.to_dlpack();
  if (!managed.ok()) return to_c(managed.status());
  *out = *managed;
  return nullptr;
}

}  // namespace
}  // namespace scopevm

scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index, DLManagedTensor** out) {
  const auto outputs = call->call.outputs();
  if (index >= outputs.size())
    return to_c({scopevm::StatusCode::kNotFound,
                 "no result " + std::to_string(index) + ": the call has " +
                     scopevm::runtime::count_text(outputs.size(), "result")});
  // elements() of a tensor result refers to the result in outputs(). The elements of a list are
  // stored in another array.
  if (call->call.elements(index)->data() != &outputs[index])
    return to_c({scopevm::StatusCode::kInvalidArgument,
                 "result " + std::to_string(index) +
                     " is a list: read its elements with scopevm_call_output_element"});
  return scopevm::give_tensor(outputs[index], out);
}

scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index, size_t* out_size,
                                         int* out_has_value) {
  const scopevm::Result<bool> has_value = call->call.has_value(index);
  if (!has_value.ok()) return to_c(has_value.status());
  *out_size = call->call.elements(index)->size();
  if (out_has_value != nullptr) *out_has_value = *has_value ? 1 : 0;
  return nullptr;
}

scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index, size_t element,
                                            DLManagedTensor** out) {
  const scopevm::Result<const scopevm::Tensor*> tensor =
      scopevm::find_element(call->call, index, element);
  if (!tensor.ok()) return to_c(tensor.status());
  return scopevm::give_tensor(**tensor, out);
}

scopevm_status* scopevm_call_output_dims(const scopevm_call* call, size_t index, size_t element,
                                         const int64_t** out_dims, size_t* out_rank) {
  const scopevm::Result<const scopevm::Tensor*> tensor =
      scopevm::find_element(call->call, index, element);
  if (!tensor.ok()) return to_c(tensor.status());
  *out_dims = (*tensor)->dims().data();
  *out_rank = (*tensor)->dims().size();
  return nullptr;
}

scopevm_status* scopevm_call_output_string(const scopevm_call* call, size_t index, size_t element,
                                           size_t position, const char** out_text,
                                           size_t* out_size) {
  const scopevm::Result<std::string_view> text =
      scopevm::find_text(call->call, index, element, position);
  if (!text.ok()) return to_c(text.status());
  *out_text = text->data();
  *out_size = text->size();
  return nullptr;
}
