// Compiles a model with the compiler library, and loads the module: compile_model model.onnx
// Prints the size of the module, and its inputs and outputs.
#include <scopevm/compiler.h>
#include <scopevm/module.h>

#include <cstdio>
#include <cstdlib>

using namespace scopevm;

template <typename T>
T check(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", std::string(result.status().message()).c_str());
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CompileOptions options;
  options.model_path = argv[1];
  const CompileOutput output = check(compile(options));
  const Module module = check(Module::load_bytes(output.module));
  std::printf("%zu bytes\n", output.module.size());
  for (const TensorSignature& input : module.signature().inputs)
    std::printf("input %s\n", input.name.c_str());
  for (const TensorSignature& result : module.signature().outputs)
    std::printf("output %s\n", result.name.c_str());
  return 0;
}
