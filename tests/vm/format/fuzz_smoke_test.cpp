// The fuzz target over seeded damage of the sample modules: a short bounded run of it everywhere.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/disassembler.h"
#include "vm/format/layout.h"
#include "vm/format/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace scopevm::format {
namespace {

std::vector<uint8_t> section(const std::vector<uint8_t>& file, SectionKind kind) {
  SectionEntry entry;
  std::memcpy(&entry,
              file.data() + sizeof(FileHeader) + static_cast<size_t>(kind) * sizeof(SectionEntry),
              sizeof(entry));
  return {file.begin() + static_cast<ptrdiff_t>(entry.offset),
          file.begin() + static_cast<ptrdiff_t>(entry.offset + entry.size)};
}

// The target's second form: size of the tables, tables, code.
std::vector<uint8_t> tables_and_code(const ModuleContents& module) {
  std::vector<uint8_t> file = write_module(module);
  std::vector<uint8_t> tables = section(file, SectionKind::kTables);
  std::vector<uint8_t> code = section(file, SectionKind::kCode);
  std::vector<uint8_t> input = {static_cast<uint8_t>(tables.size()),
                                static_cast<uint8_t>(tables.size() >> 8)};
  input.insert(input.end(), tables.begin(), tables.end());
  input.insert(input.end(), code.begin(), code.end());
  return input;
}

TEST(FuzzSmoke, SeededDamageIsSurvived) {
  constexpr int kRounds = 4000;
  std::vector<std::vector<uint8_t>> corpus;
  for (const ModuleContents& module : {dense_module(), branching_module()}) {
    corpus.push_back(write_module(module));
    ModuleContents without_data = module;
    without_data.constants.clear();
    without_data.images.clear();
    corpus.push_back(tables_and_code(without_data));
    std::string text = disassemble(module);
    corpus.emplace_back(text.begin(), text.end());
  }
  std::mt19937 random(11);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint8_t> input = corpus[random() % corpus.size()];
    for (int changes = static_cast<int>(random() % 4); changes > 0; --changes)
      input[random() % input.size()] = static_cast<uint8_t>(random());
    if (random() % 8 == 0) input.resize(random() % input.size());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

}  // namespace
}  // namespace scopevm::format
