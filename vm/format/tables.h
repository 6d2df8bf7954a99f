// The tables section: the FlatBuffers part of module.bc. Only tables_writer.cpp and
// tables_reader.cpp see FlatBuffers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

std::vector<uint8_t> write_tables(const ModuleContents& module);

struct Tables {
  ModuleContents module;             // no code yet; `bytes` have a size but no data
  std::vector<uint32_t> code_words;  // the length of each function's code
};

// What the tables say. Allocates at most a fixed multiple of the section's size, whatever the
// section holds.
Result<Tables> read_tables(std::span<const uint8_t> section);

}  // namespace scopevm::format
