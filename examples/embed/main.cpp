// Runs a module through the C++ API: embed module.bc n=4 ...
// Fills f32 inputs with ones, and leaves inputs of other types uninitialised. Prints the first 10
// elements of the first result, if it is f32, and the memory bound.
#include <scopevm/session.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace scopevm;

template <typename T>
T check(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", std::string(result.status().message()).c_str());
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::map<std::string, int64_t> dims;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    dims[text.substr(0, text.find('='))] = std::atoll(text.substr(text.find('=') + 1).c_str());
  }

  const Module module = check(Module::load(argv[1]));
  const MemoryBound bound = check(module.memory_bound(dims));
  const Session session = check(Session::create(module));  // thread-safe; share it between threads
  Call call = check(session.make_call());

  for (const TensorSignature& input : module.signature().inputs) {
    std::vector<int64_t> shape;
    for (const std::string& dim : input.dims)
      shape.push_back(dims.contains(dim) ? dims[dim] : std::atoll(dim.c_str()));
    Tensor tensor = check(Tensor::allocate(input.dtype, shape));
    if (input.dtype == DType::kF32) std::ranges::fill(tensor.elements<float>(), 1.0F);
    if (const Status status = call.set_input(input.name, tensor); !status.ok()) return 1;
  }
  if (const Status status = call.run(); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }

  const Tensor& result = call.outputs().front();
  std::printf("%s:", module.signature().outputs.front().name.c_str());
  for (int64_t i = 0; i < std::min<int64_t>(result.element_count(), 10); ++i)
    if (result.dtype() == DType::kF32) std::printf(" %g", result.elements<float>()[i]);
  std::printf("\n");
  for (const ScopeBound& scope : bound.scopes)
    std::printf("%s: %lld bytes bound\n", scope.scope.c_str(), static_cast<long long>(scope.bytes));
  return 0;
}
