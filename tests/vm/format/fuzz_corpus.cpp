// Implements fuzz_corpus.h: encodes the sample modules in each input form of the fuzz target.
#include "tests/vm/format/fuzz_corpus.h"

#include <cstring>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/writer.h"

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

// The fuzz target's input form without checksums: the size of the tables in two bytes, least
// significant byte first, then the tables and the code.
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

}  // namespace

std::vector<std::vector<uint8_t>> fuzz_corpus() {
  std::vector<std::vector<uint8_t>> corpus;
  for (const ModuleContents& module : {dense_module(), branching_module(), variant_module(),
                                       string_module(), stack_module(), external_module()}) {
    corpus.push_back(write_module(module));
    ModuleContents without_data = module;
    without_data.constants.clear();
    without_data.images.clear();
    corpus.push_back(tables_and_code(without_data));
    std::string text = disassemble(module);
    corpus.emplace_back(text.begin(), text.end());
  }
  return corpus;
}

}  // namespace scopevm::format
