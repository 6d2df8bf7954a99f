#include "vm/run/results.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "vm/run/text/text_work.h"

namespace scopevm::vm {
namespace {

using runtime::ScopeMemory;
using runtime::Storage;

// `mark` becomes the slot's value. The slot is read only where the mark stands: a function whose
// checks show no values may have no slots.
void replace_all(std::string& text, std::string_view mark, const int64_t* slots, uint32_t slot) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), std::to_string(slots[slot]));
}

// The pool that the function's contract gives result `name`, else the module's first heap.
uint32_t result_pool(const format::FunctionDecl& function, const LoadedModule& module,
                     const std::string& name) {
  for (const format::MemoryDecl& line : function.memory)
    if (line.is_result && line.what == name) return line.pool;
  return module.heap_pool();
}

class ResultMaker {
 public:
  ResultMaker(BoundSession& session, CallContext& context) : session_(session), context_(context) {}

  Status make(uint32_t output, const Register& from, std::span<const int64_t> dims) {
    const LoadedModule& module = session_.module();
    const std::string& name = module.output_names()[output];
    const Result<int64_t> bytes = runtime::shape_bytes(from.dtype, dims);
    if (!bytes.is_ok() || *bytes != from.bytes)
      return {StatusCode::kInvalidModel, "output \"" + name + "\" has " +
                                             std::to_string(from.bytes) + " bytes, not those of " +
                                             runtime::type_text(from.dtype, dims)};
    if (from.dtype == DType::kStr) return texts(name, from, dims);
    const Tensor& given = context_.outputs[output];
    if (!given.is_empty()) {
      SCOPEVM_RETURN_IF_ERROR(check_output(module, output, given, dims));
      if (from.storage != context_.output_storages[output])
        std::memcpy(given.data(), from.data, static_cast<size_t>(from.bytes));
      context_.results.push_back(given);
      return {};
    }
    if (from.storage == nullptr || is_taken(from.storage)) return copy(name, from, dims);
    from.storage->retain();
    context_.results.push_back(
        TensorAccess::make(from.data, from.storage, from.dtype, dims, from.bytes));
    return {};
  }

 private:
  // By an earlier result, or by the caller who owns the bytes.
  bool is_taken(const Storage* storage) const {
    return storage->pool < 0 || std::ranges::any_of(
                                    context_.results,
                                    [storage](const Tensor& result) {
                                      return TensorAccess::storage(result) == storage;
                                    });
  }

  Status texts(const std::string& name, const Register& ids, std::span<const int64_t> dims) {
    Result<Storage*> packed = texts_of_result(context_.texts, ids);
    if (!packed.is_ok()) return std::move(packed).status().with_context("output \"" + name + "\"");
    (*packed)->retain();
    context_.results.push_back(
        TensorAccess::make_texts((*packed)->data, *packed, dims, (*packed)->bytes));
    return {};
  }

  Status copy(const std::string& name, const Register& from, std::span<const int64_t> dims) {
    const uint32_t pool = result_pool(*context_.entry->decl, session_.module(), name);
    Storage* storage = nullptr;
    switch (session_.pool(pool).allocate(from.bytes, &storage)) {
      case ScopeMemory::Outcome::kOk:
        break;
      case ScopeMemory::Outcome::kNoRoom:
        return {StatusCode::kOutOfMemory, "output \"" + name + "\": no room for a copy"};
      case ScopeMemory::Outcome::kOverLimit:
        return {StatusCode::kResourceLimit, "output \"" + name + "\": no room within the limit"};
    }
    std::memcpy(storage->data, from.data, static_cast<size_t>(from.bytes));
    // One reference for the call, which it gives back when it ends, and one for the tensor.
    context_.own(storage, static_cast<int32_t>(pool));
    storage->retain();
    context_.results.push_back(
        TensorAccess::make(storage->data, storage, from.dtype, dims, from.bytes));
    return {};
  }

  BoundSession& session_;
  CallContext& context_;
};

}  // namespace

Status collect_results(BoundSession& session, CallContext& context, const Frame& frame,
                       isa::RegisterList registers) {
  ResultMaker maker(session, context);
  for (uint32_t i = 0; i < registers.size(); ++i) {
    const Register& from = frame.registers[registers[i].value];
    SCOPEVM_RETURN_IF_ERROR(maker.make(i, from, {frame.dims_of(registers[i].value), from.rank}));
  }
  return {};
}

void record_bounds(const format::FunctionDecl& function, const int64_t* slots,
                   std::vector<PoolAccount>& pools) {
  for (const format::MemoryDecl& line : function.memory) {
    pools[line.pool].bound_bytes += slots[line.bytes_slot];
    pools[line.pool].lower_bound_bytes += slots[line.lower_bound_slot];
  }
  // Where data decides, also how deep calls go or how large a size once was, the use itself tells.
  for (const format::MemoryDecl& line : function.memory)
    if (PoolAccount& pool = pools[line.pool]; line.depends_on_data)
      pool.bound_bytes = std::max(pool.bound_bytes, pool.peak_bytes);
}

Status check_failure(const format::ShapeFunctionDecl& function, int64_t check,
                     const int64_t* slots) {
  if (check >= static_cast<int64_t>(function.checks.size()))
    return {StatusCode::kInvalidModel, "shape function \"" + function.symbol + "\" reports check " +
                                           std::to_string(check) +
                                           ", which the module does not have"};
  const format::CheckDecl& decl = function.checks[static_cast<size_t>(check)];
  std::string text = decl.message;
  replace_all(text, "{0}", slots, decl.lhs_slot);
  replace_all(text, "{1}", slots, decl.rhs_slot);
  for (size_t i = 0; i < decl.more_slots.size(); ++i)
    replace_all(text, "{" + std::to_string(i + 2) + "}", slots, decl.more_slots[i]);
  return {StatusCode::kInvalidArgument, std::move(text)};
}

Status check_output(const LoadedModule& module, uint32_t index, const Tensor& given,
                    std::span<const int64_t> dims) {
  const DType dtype = module.signature().outputs[index].dtype;
  if (given.dtype() == dtype && std::ranges::equal(given.dims(), dims)) return {};
  return {StatusCode::kInvalidArgument, "output \"" + module.output_names()[index] +
                                            "\": expected " + runtime::type_text(dtype, dims) +
                                            ", given " +
                                            runtime::type_text(given.dtype(), given.dims())};
}

}  // namespace scopevm::vm
