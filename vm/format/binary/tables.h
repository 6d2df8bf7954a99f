// Serialises and parses the tables section of a module file with FlatBuffers. Only
// tables_writer.cpp, tables_reader.cpp and schema_fields.h include FlatBuffers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

std::vector<uint8_t> write_tables(const ModuleContents& module);

struct Tables {
  ModuleContents module;             // without code; each `bytes` has a size but no data
  std::vector<uint32_t> code_words;  // the length of each function's code
};

// Parses the tables section. Allocates at most a fixed multiple of the section's size, even for
// malicious input.
Result<Tables> read_tables(std::span<const uint8_t> section);

}  // namespace scopevm::format
