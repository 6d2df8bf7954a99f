// Lays out the file as a list of pieces, some of which are views of the contents. The pieces are
// then concatenated or written to a file. tables_writer.cpp serialises the tables.
#include "vm/format/binary/writer.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/min_reader.h"
#include "vm/format/binary/tables.h"
#include "vm/format/binary/weights.h"
#include "vm/format/binary/write_file.h"
#include "vm/isa/opcodes.h"

namespace scopevm::format {
namespace {

using Piece = std::span<const uint8_t>;

constexpr uint8_t kZeros[kAlignment] = {};

struct Section {
  std::string_view name;
  bool is_required = false;
  std::vector<Piece> pieces;
  uint64_t size = 0;

  void add(Piece piece) {
    pieces.push_back(piece);
    size += piece.size();
  }
  void add_aligned(Piece piece) {
    add(Piece(kZeros, align_up(size) - size));
    add(piece);
  }
  uint64_t checksum() const {
    StreamingChecksum sum;
    // The pieces are added one by one, so that large constants are not copied into one buffer.
    for (Piece piece : pieces) sum.add(piece.data(), piece.size());
    return sum.value();
  }
};

struct File {
  std::vector<uint8_t> tables;
  std::vector<uint8_t> weights;  // the contents of the section that names their files
  std::vector<uint8_t> front;    // header and section table
  std::vector<Piece> pieces;     // the file, in order
  uint64_t size = 0;
};

template <typename T>
void append_struct(std::vector<uint8_t>& bytes, const T& value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

void write_front(File& file, const ModuleContents& module,
                 const std::vector<SectionEntry>& entries) {
  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version_major = kVersionMajor;
  header.version_minor = kVersionMinor;
  header.min_reader = min_reader(module);
  header.section_count = static_cast<uint32_t>(entries.size());
  header.file_size = file.size;
  header.section_table_offset = sizeof(FileHeader);
  header.section_table_checksum = checksum(entries.data(), entries.size() * sizeof(SectionEntry));
  // Computed last, because this checksum covers all other fields.
  header.header_checksum = checksum(&header, offsetof(FileHeader, header_checksum));
  append_struct(file.front, header);
  for (const SectionEntry& entry : entries) append_struct(file.front, entry);
}

// In the order of SectionKind, then the further sections. `weights` is empty if the file contains
// the constants.
std::vector<Section> sections_of(const ModuleContents& module, const File& file,
                                 std::span<const WeightsFile> weights) {
  std::vector<Section> sections;
  for (const char* name : kSectionNames) sections.push_back({name, true, {}});
  sections[0].add(file.tables);
  for (const FunctionDecl& function : module.functions)
    sections[1].add({reinterpret_cast<const uint8_t*>(function.code.data()),
                     function.code.size() * sizeof(uint32_t)});
  if (weights.empty())
    // Aligned, so that kernels can read the constants in the mapped file.
    for (const Piece piece : weights_of(module)) sections[2].add(piece);
  for (const ImageDecl& image : module.images)
    sections[3].add_aligned({image.bytes.data, image.bytes.size});
  if (!weights.empty()) {
    sections.push_back({weights.front().rank ? kRankWeightsSection : kWeightsSection, true, {}});
    sections.back().add(file.weights);
  }
  for (const SectionDecl& section : module.sections) {
    sections.push_back({section.name, section.is_required, {}});
    sections.back().add({section.bytes.data, section.bytes.size});
  }
  return sections;
}

void lay_out(const ModuleContents& module, std::span<const WeightsFile> weights, File& file) {
  file.tables = write_tables(module);
  file.weights = encode(weights);
  const std::vector<Section> sections = sections_of(module, file, weights);
  std::vector<SectionEntry> entries;
  file.size = sizeof(FileHeader) + sections.size() * sizeof(SectionEntry);
  file.pieces.emplace_back();  // placeholder for the header and section table, set last
  for (const Section& section : sections) {
    file.pieces.emplace_back(kZeros, align_up(file.size) - file.size);
    file.size = align_up(file.size);
    entries.push_back(section_entry(section.name, section.is_required, file.size, section.size,
                                    section.checksum()));
    file.pieces.insert(file.pieces.end(), section.pieces.begin(), section.pieces.end());
    file.size += section.size;
  }
  write_front(file, module, entries);
  file.pieces.front() = file.front;
}

}  // namespace

// A version that adds other contents than opcodes that older readers cannot ignore, such as an
// element type, adds them here.
uint16_t min_reader(const ModuleContents& module) {
  uint16_t least = kOldestMinor;
  for (const FunctionDecl& function : module.functions) {
    size_t word = 0;
    while (word < function.code.size()) {
      const uint32_t first = function.code[word];
      const isa::OpcodeRow* row = isa::find_opcode(static_cast<uint32_t>(isa::opcode(first)));
      if (row != nullptr) least = std::max(least, row->since);
      // Malformed code can contain an instruction of length 0.
      word += std::max(isa::word_count(first), uint32_t{1});
    }
  }
  return least;
}

std::vector<uint8_t> write_module(const ModuleContents& module,
                                  std::span<const WeightsFile> weights) {
  File file;
  lay_out(module, weights, file);
  std::vector<uint8_t> bytes;
  bytes.reserve(file.size);
  for (Piece piece : file.pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

Status write_module_file(const std::string& path, const ModuleContents& module) {
  File file;
  lay_out(module, {}, file);
  return write_file(path, file.pieces);
}

}  // namespace scopevm::format
