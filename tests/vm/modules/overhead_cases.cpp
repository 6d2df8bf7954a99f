#include "tests/vm/modules/overhead_cases.h"

#include <utility>

#include "tests/vm/modules/test_modules.h"

namespace scopevm::test {
namespace {

constexpr int64_t kRepetitions = 1000;

// A module with a function main() that executes `code`.
format::ModuleContents module_of(CodeWriter& code) {
  format::ModuleContents contents = empty_contents();
  contents.constants = {};
  contents.launches = {
      {.kernel = kNothing, .grid = {1}, .grain = {1}, .bytes = {{4096}, {4096}, {4096}}}};
  code.ret({});
  format::FunctionDecl function;
  function.name = "main";
  function.register_count = 4;
  function.slot_count = 4;
  function.code = code.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

// main() allocates a storage and a tensor, and then executes the code that `add` appends, `count`
// times.
format::ModuleContents repeated(int64_t count, void (*add)(CodeWriter&)) {
  CodeWriter code;
  code.alloc_storage(0, 1, 4096).alloc_tensor(1, 0, 0, 4096, DType::kF32, {4, 8, 32});
  for (int64_t i = 0; i < count; ++i) add(code);
  return module_of(code);
}

format::ModuleContents empty_call() {
  CodeWriter code;
  return module_of(code);
}

format::ModuleContents call() {
  return repeated(0, [](CodeWriter&) {});
}

// The storage is allocated in the frame instead of the workspace.
format::ModuleContents call_on_the_stack() {
  format::ModuleContents contents = call();
  constexpr size_t kPoolOfTheStorage = 2;  // index of the pool's word in the first instruction
  contents.functions[0].code[kPoolOfTheStorage] = static_cast<uint32_t>(contents.pools.size());
  contents.pools.push_back({"global.stack", format::PoolKind::kStack, 0, 4096});
  return contents;
}

format::ModuleContents move() {
  // Opcode 64 is `move`.
  return repeated(kRepetitions, [](CodeWriter& code) { code.add(64, {2, 1}); });
}

format::ModuleContents alloc_tensor() {
  return repeated(kRepetitions, [](CodeWriter& code) {
    code.alloc_tensor(2, 0, 64, 1024, DType::kF32, {4, 8, 8});
  });
}

format::ModuleContents launch() {
  return repeated(kRepetitions, [](CodeWriter& code) { code.launch(0, {1, 1, 1}); });
}

format::ModuleContents alloc_and_free() {
  // Opcode 19 is `kill`, which frees the storage.
  return repeated(kRepetitions,
                  [](CodeWriter& code) { code.alloc_storage(2, 0, 1024).add(19, {2}); });
}

constexpr OverheadCase kCases[] = {
    {"EmptyCall", empty_call, 1, 1430},
    {"Call", call, 1, 2400},
    {"CallOnTheStack", call_on_the_stack, 1, 1700},
    {"Move", move, kRepetitions, 63},
    {"AllocTensor", alloc_tensor, kRepetitions, 93},
    {"LaunchOfAnEmptyKernel", launch, kRepetitions, 119},
    {"AllocAndFreeAStorage", alloc_and_free, kRepetitions, 631},
};

}  // namespace

std::span<const OverheadCase> overhead_cases() { return kCases; }

}  // namespace scopevm::test
