// The plug-in libscopevm_dnnl.so: computes matrix products, convolutions and poolings with oneDNN,
// through the ABI of scopevm/c/external.h.
// graph/: what oneDNN can compute
//   patterns.cpp     the graphs that the library can compute
//   description.cpp  JSON -> ops and types
//   layer.cpp        ops -> one layer and its epilogue (epilogue.cpp), or the reason why not
//   activations.cpp  the table of activations, for patterns and epilogues
// run/:
//   workspace.cpp    layer -> formula of the workspace
//   function.cpp     a function of a session, with a cache of plans
//   plan.cpp         layer and dims (shapes.cpp) -> oneDNN primitives
//   weight.cpp       prepares constant weights (layout.cpp)
#include <dnnl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/dnnl/graph/description.h"
#include "plugins/dnnl/graph/layer.h"
#include "plugins/dnnl/graph/patterns.h"
#include "plugins/dnnl/run/function.h"
#include "plugins/dnnl/run/weight.h"
#include "plugins/dnnl/run/workspace.h"
#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm::onednn {
namespace {

// Writes `text` with a terminating NUL, truncated to `size` bytes.
void write_text(std::string_view text, char* target, size_t size) {
  if (target == nullptr || size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

// Calls `body`, which returns a Status, and reports errors in the form of the ABI. No exception
// leaves it: oneDNN, the JSON library and the containers throw.
template <typename Body>
int report_errors(char* message, size_t message_size, Body body) noexcept {
  StatusCode code = StatusCode::kOk;
  try {
    const Status status = body();
    code = status.code();
    if (!status.ok()) write_text(status.message(), message, message_size);
  } catch (const std::bad_alloc&) {
    code = StatusCode::kOutOfMemory;
    write_text("out of memory", message, message_size);
  } catch (const dnnl::error& error) {
    code = error.status == dnnl_out_of_memory ? StatusCode::kOutOfMemory : StatusCode::kUnsupported;
    write_text(error.what(), message, message_size);
  } catch (const std::exception& error) {
    code = StatusCode::kInternal;
    write_text(error.what(), message, message_size);
  }
  return static_cast<int>(code);
}

// Without AVX-512, oneDNN has only matrix products that allocate memory while they run, and its
// slow reference implementation. A module that was compiled elsewhere runs with the latter.
bool has_avx512() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core; }

int accept(void*, scopevm_external_query* query) {
  return report_errors(query->message, query->message_size, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Description description, parse_description(query->description));
    SCOPEVM_ASSIGN_OR_RETURN(Layer layer, parse_layer(description));
    if (layer.kind == Layer::Kind::kMatMul && !has_avx512())
      return {StatusCode::kUnsupported, "matrix products need a CPU with AVX-512"};
    for (size_t i = 0; i < query->constant_count; ++i) {
      scopevm_external_constant& constant = query->constants[i];
      if (constant.operand != layer.w) continue;
      if (auto prepared = choose_prepared(layer, description)) {
        constant.bytes = prepared->bytes;
        write_text(prepared->layout, constant.layout, sizeof(constant.layout));
        layer.prepared = std::move(prepared);
      }
    }
    const std::string formula = workspace_formula(layer, description);
    if (formula.size() >= query->workspace_size)
      return {StatusCode::kUnsupported, "the workspace formula is too long"};
    write_text(formula, query->workspace, query->workspace_size);
    return {};
  });
}

int prepare(void*, const char*, const char* description, size_t operand, const DLTensor* value,
            void* prepared, char* message, size_t message_size) {
  return report_errors(message, message_size, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Description parsed, parse_description(description));
    SCOPEVM_ASSIGN_OR_RETURN(const Layer layer, parse_layer(parsed));
    if (operand != layer.w || !layer.prepared)
      return {StatusCode::kInvalidArgument, "the operand is not prepared"};
    return prepare_weight(layer, parsed, *value, prepared);
  });
}

int create(void*, const char*, const char* description, void** out_function, char* message,
           size_t message_size) {
  return report_errors(message, message_size, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Description parsed, parse_description(description));
    SCOPEVM_ASSIGN_OR_RETURN(Layer layer, parse_layer(parsed));
    *out_function = new Function(std::move(layer));
    return {};
  });
}

void destroy(void*, void* function) { delete static_cast<Function*>(function); }

int run(void*, void* function, const scopevm_external_run* run) {
  return report_errors(run->message, run->message_size,
                       [&] { return static_cast<Function*>(function)->run(*run); });
}

const char* version() {
  static const auto text = [] {
    std::array<char, 64> made;
    const dnnl_version_t& loaded = *dnnl_version();
    std::snprintf(made.data(), made.size(), "%d.%d.%d", loaded.major, loaded.minor, loaded.patch);
    return made;
  }();
  return text.data();
}

}  // namespace
}  // namespace scopevm::onednn

// The name is SCOPEVM_EXTERNAL_ENTRY.
extern "C" __attribute__((visibility("default"))) const scopevm_external_library*
scopevm_external_library_entry(int abi_version) {
  using namespace scopevm::onednn;
  static const scopevm_external_library library = {.struct_size = sizeof(library),
                                                   .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
                                                   .name = "dnnl",
                                                   .context = nullptr,
                                                   .patterns = patterns(),
                                                   .accept = accept,
                                                   .prepare = prepare,
                                                   .create = create,
                                                   .destroy = destroy,
                                                   .run = run,
                                                   .version = version()};
  return abi_version == SCOPEVM_EXTERNAL_ABI_VERSION ? &library : nullptr;
}
