// Fuzz target: bytes -> reader -> verifier -> disassembler -> assembler. None of them may crash,
// hang or allocate without bound. Mutated files rarely pass the checksums, so the input is also
// used as the tables and code sections of an otherwise valid file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fuzz/check_round_trip.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/reader.h"

namespace scopevm::format {
namespace {

void try_file(const uint8_t* data, size_t size) {
  Result<ModuleContents> module = read_module(aligned_copy(data, size));
  if (module.ok()) check_round_trip(*module);
}

// Builds a file with valid checksums. The input's first two bytes are the size of the tables
// section, which follows; the remaining bytes are the code section.
std::vector<uint8_t> file_around(const uint8_t* data, size_t size) {
  data += 2;
  size -= 2;
  size_t tables = std::min<size_t>(data[-2] | data[-1] << 8, size);
  const uint8_t* parts[kSectionCount] = {data, data + tables, nullptr, nullptr};
  size_t sizes[kSectionCount] = {tables, size - tables, 0, 0};
  SectionEntry entries[kSectionCount] = {};
  std::vector<uint8_t> file(sizeof(FileHeader) + sizeof(entries));
  for (uint32_t kind = 0; kind < kSectionCount; ++kind) {
    file.resize(align_up(file.size()));
    entries[kind] = section_entry(kSectionNames[kind], true, file.size(), sizes[kind],
                                  checksum(parts[kind], sizes[kind]));
    file.insert(file.end(), parts[kind], parts[kind] + sizes[kind]);
  }
  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version_major = kVersionMajor;
  header.version_minor = kVersionMinor;
  header.section_count = kSectionCount;
  header.file_size = file.size();
  header.section_table_offset = sizeof(FileHeader);
  header.section_table_checksum = checksum(entries, sizeof(entries));
  header.header_checksum = checksum(&header, offsetof(FileHeader, header_checksum));
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), entries, sizeof(entries));
  return file;
}

}  // namespace
}  // namespace scopevm::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::format;
  try_file(data, size);
  if (size >= 2) {
    std::vector<uint8_t> file = file_around(data, size);
    try_file(file.data(), file.size());
  }
  return 0;
}
