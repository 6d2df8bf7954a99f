// Validates header, section table, checksums and padding; then parses the tables and locates code,
// constants and images. Every byte of the file is covered by a checksum or must be zero.
#include "vm/format/reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "vm/format/checksum.h"
#include "vm/format/layout.h"
#include "vm/format/tables.h"

namespace scopevm::format {
namespace {

Status bad(const std::string& what) { return Status(StatusCode::kInvalidModel, what); }

std::string at(uint64_t offset) { return " at byte " + std::to_string(offset); }

struct Sections {
  SectionEntry entries[kSectionCount];

  std::span<const uint8_t> bytes(const Bytes& file, SectionKind kind) const {
    const SectionEntry& entry = entries[static_cast<uint32_t>(kind)];
    return {file.data + entry.offset, entry.size};
  }
};

Result<FileHeader> read_header(const Bytes& file) {
  if (file.size < sizeof(kMagic) || std::memcmp(file.data, kMagic, sizeof(kMagic)) != 0)
    return bad("not a scopevm module: its first bytes are not a module's");
  if (file.size < sizeof(FileHeader))
    return bad("truncated: " + std::to_string(file.size) + " bytes, the header takes " +
               std::to_string(sizeof(FileHeader)));
  FileHeader header;
  std::memcpy(&header, file.data, sizeof(header));
  if (header.header_checksum != checksum(&header, offsetof(FileHeader, header_checksum)))
    return bad("header: damaged, its checksum does not match");
  if (header.version_major != kVersionMajor || header.version_minor != kVersionMinor)
    return bad("module format " + std::to_string(header.version_major) + "." +
               std::to_string(header.version_minor) + ", this reader knows " +
               std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor));
  if (file.size != header.file_size)
    return bad((file.size < header.file_size ? "truncated: " : "bytes behind its end: ") +
               std::to_string(file.size) + " bytes, the header says " +
               std::to_string(header.file_size));
  return header;
}

Status check_padding(const Bytes& file, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i)
    if (file.data[i] != 0) return bad("padding" + at(i) + " is not zero");
  return {};
}

Result<Sections> read_sections(const Bytes& file, const FileHeader& header) {
  Sections sections;
  uint64_t end = sizeof(FileHeader) + sizeof(sections.entries);
  if (header.section_count != kSectionCount || header.section_table_offset != sizeof(FileHeader) ||
      file.size < end)
    return bad("header: the section table is not where this version has it");
  std::memcpy(sections.entries, file.data + header.section_table_offset, sizeof(sections.entries));
  if (checksum(sections.entries, sizeof(sections.entries)) != header.section_table_checksum)
    return bad("section table" + at(header.section_table_offset) +
               ": damaged, its checksum does not match");
  for (uint32_t kind = 0; kind < kSectionCount; ++kind) {
    const SectionEntry& entry = sections.entries[kind];
    std::string name = std::string("section ") + kSectionNames[kind];
    if (entry.kind != kind || entry.offset != align_up(end))
      return bad(name + ": not where it belongs");
    if (entry.offset > file.size || entry.size > file.size - entry.offset)
      return bad(name + at(entry.offset) + ": reaches beyond the file's end");
    SCOPEVM_RETURN_IF_ERROR(check_padding(file, end, entry.offset));
    end = entry.offset + entry.size;
  }
  if (end != file.size) return bad("bytes behind the last section" + at(end));
  return sections;
}

Status check_sections(const Bytes& file, const Sections& sections, const ReadOptions& options) {
  for (uint32_t kind = 0; kind < kSectionCount; ++kind) {
    const SectionEntry& entry = sections.entries[kind];
    if (static_cast<SectionKind>(kind) == SectionKind::kConstants && !options.check_constants)
      continue;
    if (checksum(file.data + entry.offset, entry.size) != entry.checksum)
      return bad(std::string("section ") + kSectionNames[kind] + at(entry.offset) +
                 ": damaged, its checksum does not match");
  }
  return {};
}

// Assigns consecutive aligned blobs of a section.
class BlobReader {
 public:
  BlobReader(const Bytes& file, std::span<const uint8_t> section, const char* name)
      : file_(file), section_(section), name_(name) {}

  Status take(Bytes& blob) {
    uint64_t begin = align_up(end_);
    if (begin > section_.size() || blob.size > section_.size() - begin)
      return bad(std::string("section ") + name_ + ": shorter than its table says");
    blob.owner = file_.owner;
    blob.data = section_.data() + begin;
    end_ = begin + blob.size;
    return {};
  }
  Status finish() const {
    if (end_ == section_.size()) return {};
    return bad(std::string("section ") + name_ + ": longer than its table says");
  }

 private:
  const Bytes& file_;
  std::span<const uint8_t> section_;
  const char* name_;
  uint64_t end_ = 0;
};

Status read_code(std::span<const uint8_t> section, Tables& tables) {
  for (size_t i = 0; i < tables.module.functions.size(); ++i) {
    uint64_t bytes = uint64_t{tables.code_words[i]} * sizeof(uint32_t);
    if (bytes > section.size()) return bad("section code: shorter than its table says");
    std::vector<uint32_t>& code = tables.module.functions[i].code;
    code.resize(tables.code_words[i]);
    if (bytes != 0) std::memcpy(code.data(), section.data(), bytes);
    section = section.subspan(bytes);
  }
  return section.empty() ? Status() : bad("section code: longer than its table says");
}

}  // namespace

Result<ModuleContents> read_module(const Bytes& file, const ReadOptions& options) {
  if (file.size == 0) return bad("empty");
  if (reinterpret_cast<uintptr_t>(file.data) % kAlignment != 0)
    return Status(StatusCode::kInvalidArgument, "the module's memory is not 64-byte aligned");
  SCOPEVM_ASSIGN_OR_RETURN(FileHeader header, read_header(file));
  SCOPEVM_ASSIGN_OR_RETURN(Sections sections, read_sections(file, header));
  SCOPEVM_RETURN_IF_ERROR(check_sections(file, sections, options));

  Result<Tables> tables = read_tables(sections.bytes(file, SectionKind::kTables));
  if (!tables.ok()) return std::move(tables).status().with_context("section tables");
  SCOPEVM_RETURN_IF_ERROR(read_code(sections.bytes(file, SectionKind::kCode), *tables));
  BlobReader constants(file, sections.bytes(file, SectionKind::kConstants), "constants");
  for (ConstantDecl& constant : tables->module.constants)
    SCOPEVM_RETURN_IF_ERROR(constants.take(constant.bytes));
  SCOPEVM_RETURN_IF_ERROR(constants.finish());
  BlobReader images(file, sections.bytes(file, SectionKind::kImages), "images");
  for (ImageDecl& image : tables->module.images) SCOPEVM_RETURN_IF_ERROR(images.take(image.bytes));
  SCOPEVM_RETURN_IF_ERROR(images.finish());
  return std::move(tables->module);
}

}  // namespace scopevm::format
