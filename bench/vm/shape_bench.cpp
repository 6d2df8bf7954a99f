// How long does the shape work of a request take: all sizes, offsets, launch parameters and checks
// that depend on dims? Measures only the native shape function of a module's entry function, and
// Module::bound().
//
//   vm_shape_bench MODULE NAME=VALUE...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vm/api/module_access.h"
#include "vm/format/schema/formula.h"
#include "vm/isa/opcodes.h"

namespace scopevm {
namespace {

constexpr int kRounds = 21;
constexpr int kCalls = 10000;

// The shape function that the first instruction of the entry function calls.
struct ShapeWork {
  ShapeFn function = nullptr;
  const format::ShapeFunctionDecl* decl = nullptr;
  std::string entry;
  uint32_t slot_count = 0;
};

Result<ShapeWork> shape_work(const vm::LoadedModule& module,
                             const std::map<std::string, int64_t>& dims) {
  std::vector<int64_t> values;
  for (const DimensionSignature& dimension : module.signature().dimensions) {
    const auto given = dims.find(dimension.name);
    if (given == dims.end())
      return Status(StatusCode::kInvalidArgument,
                    "missing value of dimension \"" + dimension.name + "\"");
    values.push_back(given->second);
  }
  const format::FunctionDecl& entry = *module.entry(values).decl;
  if (isa::opcode(entry.code.front()) != isa::Opcode::shape_function)
    return Status(StatusCode::kInvalidArgument, entry.name + " has no shape function");
  const uint32_t index = isa::decode<isa::op::shape_function>(entry.code.data()).function.value;
  SCOPEVM_ASSIGN_OR_RETURN(const vm::KernelTable* kernels, module.kernels());
  return ShapeWork{kernels->shape_functions[index], &module.contents().shape_functions[index],
                   entry.name, entry.slot_count};
}

// Arguments of the shape function: all dims of all inputs, then the thread count.
std::vector<int64_t> arguments(const Signature& signature,
                               const std::map<std::string, int64_t>& dims) {
  std::vector<int64_t> values;
  for (const TensorSignature& input : signature.inputs)
    for (const std::string& dim : input.dims)
      values.push_back(format::evaluate_formula(dim, dims).value_or(0));
  values.push_back(1);
  return values;
}

// Returns the nanoseconds per call of each round, sorted.
template <typename Function>
std::vector<double> time_rounds(const Function& call) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - began;
    rounds.push_back(elapsed.count() / kCalls);
  }
  std::ranges::sort(rounds);
  return rounds;
}

Status run(const char* path, const std::map<std::string, int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(path));
  const vm::LoadedModule& loaded = *ModuleAccess::loaded(module);
  SCOPEVM_ASSIGN_OR_RETURN(const ShapeWork work, shape_work(loaded, dims));
  const std::vector<int64_t> values = arguments(module.signature(), dims);
  std::vector<int64_t> slots(work.slot_count);
  if (values.size() != work.decl->dim_count + 1 || work.function(values.data(), slots.data()) >= 0)
    return Status(StatusCode::kInvalidArgument, "the module does not take these dims");
  const std::vector<double> rounds =
      time_rounds([&] { work.function(values.data(), slots.data()); });
  std::printf("%s: %u slots, %zu checks: %.0f ns a call, at best %.0f\n", work.entry.c_str(),
              work.decl->slot_count, work.decl->checks.size(), rounds[kRounds / 2], rounds.front());
  std::vector<int64_t> dim_values, bytes(module.memory_scopes().size());
  for (const DimensionSignature& dimension : module.signature().dimensions)
    dim_values.push_back(dims.at(dimension.name));
  SCOPEVM_RETURN_IF_ERROR(module.bound(dim_values, bytes));
  const std::vector<double> bounds = time_rounds([&] { (void)module.bound(dim_values, bytes); });
  std::printf("Module::bound(): %.0f ns a call, at best %.0f\n", bounds[kRounds / 2],
              bounds.front());
  return {};
}

}  // namespace
}  // namespace scopevm

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) == "--help") {
    std::printf(
        "usage: vm_shape_bench MODULE NAME=VALUE...\nWithout a module, nothing is measured.\n");
    return 0;
  }
  std::map<std::string, int64_t> dims;
  for (int i = 2; i < argc; ++i)
    if (const char* equals = std::strchr(argv[i], '='))
      dims[std::string(static_cast<const char*>(argv[i]), equals)] =
          std::strtoll(equals + 1, nullptr, 10);
  const scopevm::Status status = scopevm::run(argv[1], dims);
  if (status.ok()) return 0;
  std::fprintf(stderr, "vm_shape_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}
