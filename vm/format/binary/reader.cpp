// Validates header, section table, checksums and padding; then parses the tables and locates code,
// constants and images. Every byte of the file is covered by a checksum or must be zero.
#include "vm/format/binary/reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "vm/format/binary/checksum.h"
#include "vm/format/binary/layout.h"
#include "vm/format/binary/tables.h"
#include "vm/format/binary/weights.h"

namespace scopevm::format {
namespace {

using runtime::count_text;

Status bad(const std::string& what) { return Status(StatusCode::kInvalidModel, what); }

std::string at(uint64_t offset) { return " at byte " + std::to_string(offset); }

struct Sections {
  std::vector<SectionEntry> entries;  // those of SectionKind first

  std::span<const uint8_t> bytes(const Bytes& file, SectionKind kind) const {
    const SectionEntry& entry = entries[static_cast<uint32_t>(kind)];
    return {file.data + entry.offset, entry.size};
  }
  std::span<const SectionEntry> further() const {
    return std::span(entries).subspan(kSectionCount);
  }
};

// The versions that this release reads: "0.15 to 0.17".
std::string known_versions() {
  std::string newest = version_text(kVersionMajor, kVersionMinor);
  if (kOldestMinor == kVersionMinor) return newest;
  return version_text(kVersionMajor, kOldestMinor) + " to " + newest;
}

Status check_version(const FileHeader& header) {
  if (header.version_major != kVersionMajor || header.version_minor < kOldestMinor)
    return bad("unsupported module format " +
               version_text(header.version_major, header.version_minor) + ", expected " +
               known_versions() + "; compile the model again with this release");
  if (header.min_reader > kVersionMinor)
    return bad("the module requires a reader of module format " +
               version_text(header.version_major, header.min_reader) + ", and this release reads " +
               known_versions() +
               "; use a later release, or compile the model again with this release");
  return {};
}

Result<FileHeader> read_header(const Bytes& file) {
  if (file.size < sizeof(kMagic) || std::memcmp(file.data, kMagic, sizeof(kMagic)) != 0)
    return bad("not a scopevm module: bad magic number");
  if (file.size < sizeof(FileHeader))
    return bad("truncated: " + count_text(file.size, "byte") + ", the header has " +
               std::to_string(sizeof(FileHeader)));
  FileHeader header;
  std::memcpy(&header, file.data, sizeof(header));
  // The checksum is compared before the version, so that a damaged version is not reported as an
  // unsupported one.
  if (header.header_checksum != checksum(&header, offsetof(FileHeader, header_checksum)))
    return bad("header: checksum mismatch; the file is damaged");
  SCOPEVM_RETURN_IF_ERROR(check_version(header));
  if (std::ranges::any_of(header.reserved, [](uint8_t byte) { return byte != 0; }))
    return bad("header: reserved bytes are not zero");
  if (file.size > header.file_size)
    return bad("trailing data: " + count_text(file.size - header.file_size, "byte") +
               " after the end" + at(header.file_size));
  if (file.size < header.file_size)
    return bad("truncated: " + count_text(file.size, "byte") + ", expected " +
               std::to_string(header.file_size) + " according to the header");
  return header;
}

Status check_padding(const Bytes& file, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i)
    if (file.data[i] != 0) return bad("padding" + at(i) + " is not zero");
  return {};
}

// Fails unless the entry with this index is well-formed.
Status check_entry(std::span<const SectionEntry> entries, size_t index) {
  const SectionEntry& entry = entries[index];
  const std::string_view text = entry.name_text();
  const auto is_zero = [](char c) { return c == 0; };
  if (!is_section_name(text) ||
      !std::ranges::all_of(std::span(entry.name).subspan(text.size()), is_zero))
    return bad("section table: entry " + std::to_string(index) + " has an invalid name");
  const std::string name = "section " + std::string(text);
  if (index < kSectionCount && text != kSectionNames[index])
    return bad(name + ": expected section " + kSectionNames[index]);
  if (std::ranges::find(entries.first(index), text, &SectionEntry::name_text) !=
      entries.begin() + static_cast<ptrdiff_t>(index))
    return bad(name + ": the name is not unique");
  if ((entry.flags & ~kRequiredSection) != 0)
    return bad(name + ": unknown flags " + std::to_string(entry.flags));
  if (entry.reserved != 0) return bad(name + ": reserved bytes are not zero");
  return {};
}

Result<Sections> read_sections(const Bytes& file, const FileHeader& header) {
  uint64_t end = sizeof(FileHeader) + uint64_t{header.section_count} * sizeof(SectionEntry);
  if (header.section_count < kSectionCount || header.section_count > kMostSections ||
      header.section_table_offset != sizeof(FileHeader) || file.size < end)
    return bad("header: invalid section table: expected " + std::to_string(kSectionCount) + " to " +
               std::to_string(kMostSections) + " sections" + at(sizeof(FileHeader)) + ", given " +
               std::to_string(header.section_count) + at(header.section_table_offset) +
               " of a file of " + count_text(file.size, "byte"));
  Sections sections{std::vector<SectionEntry>(header.section_count)};
  const size_t table_bytes = end - sizeof(FileHeader);
  std::memcpy(sections.entries.data(), file.data + sizeof(FileHeader), table_bytes);
  if (checksum(sections.entries.data(), table_bytes) != header.section_table_checksum)
    return bad("section table" + at(header.section_table_offset) +
               ": checksum mismatch; the file is damaged");
  for (size_t i = 0; i < sections.entries.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(check_entry(sections.entries, i));
    const SectionEntry& entry = sections.entries[i];
    const std::string name = "section " + std::string(entry.name_text());
    // Sections are contiguous and in order, so they cannot overlap or leave bytes unchecked.
    if (entry.offset != align_up(end))
      return bad(name + ": expected" + at(align_up(end)) + ", given" + at(entry.offset));
    if (entry.offset > file.size || entry.size > file.size - entry.offset)
      return bad(name + at(entry.offset) + ": " + count_text(entry.size, "byte") +
                 " exceed the file of " + count_text(file.size, "byte"));
    SCOPEVM_RETURN_IF_ERROR(check_padding(file, end, entry.offset));
    end = entry.offset + entry.size;
  }
  if (end != file.size) return bad("trailing data after the last section" + at(end));
  return sections;
}

Status check_sections(const Bytes& file, const Sections& sections, const ReadOptions& options) {
  for (const SectionEntry& entry : sections.entries) {
    const std::string name = "section " + std::string(entry.name_text());
    const bool is_constants =
        &entry == &sections.entries[static_cast<uint32_t>(SectionKind::kConstants)];
    if (is_constants && !options.check_constants) continue;
    if (checksum(file.data + entry.offset, entry.size) != entry.checksum)
      return bad(name + at(entry.offset) + ": checksum mismatch; the file is damaged");
  }
  return {};
}

bool is_of_weights(const SectionEntry& entry) { return is_weights_section(entry.name_text()); }

// The sections that follow those of SectionKind, without those of weights. Fails if one of them is
// required and unknown.
Result<std::vector<SectionDecl>> read_further_sections(const Bytes& file,
                                                       const Sections& sections) {
  std::vector<SectionDecl> further;
  for (const SectionEntry& entry : sections.further()) {
    const std::string name(entry.name_text());
    const bool is_required = (entry.flags & kRequiredSection) != 0;
    if (is_of_weights(entry)) continue;
    if (is_required && std::ranges::find(kKnownSections, name) == kKnownSections.end())
      return bad("section " + name +
                 " is required, and this release does not know it; use a later release");
    further.push_back({name, is_required, {file.owner, file.data + entry.offset, entry.size}});
  }
  return further;
}

// Assigns consecutive aligned ranges of a section to the constants or images that it contains.
class BlobReader {
 public:
  // `section` without data: the blobs have none either.
  BlobReader(Bytes section, std::string name)
      : section_(std::move(section)), name_(std::move(name)) {}

  Status take(Bytes& blob) {
    uint64_t begin = align_up(end_);
    if (begin > section_.size || blob.size > section_.size - begin)
      return bad(name_ + ": " + count_text(section_.size, "byte") +
                 " are fewer than the tables require");
    // Keeps the mapped file alive as long as the blob.
    blob.owner = section_.owner;
    blob.data = section_.data == nullptr ? nullptr : section_.data + begin;
    end_ = begin + blob.size;
    return {};
  }
  Status finish() const {
    if (end_ == section_.size) return {};
    return bad(name_ + ": expected " + count_text(end_, "byte") +
               " according to the tables, given " + std::to_string(section_.size));
  }

 private:
  Bytes section_;
  std::string name_;
  uint64_t end_ = 0;
};

// The tables are not verified yet: a constant can name a pool that does not exist.
uint32_t rank_of(const ModuleContents& module, const ConstantDecl& constant) {
  const bool is_valid = constant.pool < module.pools.size() &&
                        module.pools[constant.pool].device < module.devices.size();
  return is_valid ? module.rank_of(constant.pool) : 0;
}

// Without data if they are not needed.
Result<Bytes> find_weights(const WeightsFile& weights, const ReadOptions& options) {
  if (!options.find_weights)
    return Status(StatusCode::kNotFound, "the weights are in the file " + weights.name +
                                             " (BLAKE2b digest " + text_of(weights.digest) +
                                             "), which is not given");
  SCOPEVM_ASSIGN_OR_RETURN(std::optional<Bytes> bytes, options.find_weights(weights));
  if (!bytes) return Bytes{nullptr, nullptr, weights.size};
  SCOPEVM_RETURN_IF_ERROR(check_weights(weights, *bytes, options.check_constants));
  return *std::move(bytes);
}

// Reads the constants from the module, or from the files of weights that it names.
Status read_constants(const Bytes& file, const Sections& sections, const ReadOptions& options,
                      ModuleContents& module) {
  const std::span<const uint8_t> section = sections.bytes(file, SectionKind::kConstants);
  const auto entry = std::ranges::find_if(sections.further(), is_of_weights);
  if (entry == sections.further().end()) {
    BlobReader constants({file.owner, section.data(), section.size()}, "section constants");
    for (ConstantDecl& constant : module.constants)
      SCOPEVM_RETURN_IF_ERROR(constants.take(constant.bytes));
    return constants.finish();
  }
  const std::string name = "section " + std::string(entry->name_text());
  if (entry->flags != kRequiredSection) return bad(name + ": expected a required section");
  if (std::any_of(entry + 1, sections.further().end(), is_of_weights))
    return bad(name + ": expected one section of weights");
  if (!section.empty()) return bad(name + ": section constants is not empty");
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::vector<WeightsFile> files,
      decode_weights({file.data + entry->offset, entry->size}, entry->name_text()));
  std::vector<bool> is_read(module.constants.size());
  for (const WeightsFile& weights : files) {
    if (weights.rank && *weights.rank >= module.ranks())
      return bad(name + ": the module has no rank " + std::to_string(*weights.rank));
    SCOPEVM_ASSIGN_OR_RETURN(Bytes bytes, find_weights(weights, options));
    BlobReader constants(std::move(bytes), "weights " + weights.name);
    for (size_t i = 0; i < is_read.size(); ++i) {
      ConstantDecl& constant = module.constants[i];
      if (weights.rank && rank_of(module, constant) != *weights.rank) continue;
      SCOPEVM_RETURN_IF_ERROR(constants.take(constant.bytes));
      is_read[i] = true;
    }
    SCOPEVM_RETURN_IF_ERROR(constants.finish());
  }
  const auto missing = std::ranges::find(is_read, false);
  if (missing == is_read.end()) return {};
  const ConstantDecl& constant = module.constants[static_cast<size_t>(missing - is_read.begin())];
  return bad(name + ": constant \"" + constant.name + "\" is in no file");
}

Status read_code(std::span<const uint8_t> section, Tables& tables) {
  const size_t size = section.size();
  for (size_t i = 0; i < tables.module.functions.size(); ++i) {
    // code_words comes from the tables; comparing it with the section first bounds the resize
    // below.
    uint64_t bytes = uint64_t{tables.code_words[i]} * sizeof(uint32_t);
    if (bytes > section.size())
      return bad("section code: " + count_text(size, "byte") +
                 " are fewer than the tables require");
    std::vector<uint32_t>& code = tables.module.functions[i].code;
    code.resize(tables.code_words[i]);
    if (bytes != 0) std::memcpy(code.data(), section.data(), bytes);
    section = section.subspan(bytes);
  }
  if (section.empty()) return {};
  return bad("section code: expected " + count_text(size - section.size(), "byte") +
             " according to the tables, given " + std::to_string(size));
}

}  // namespace

Result<ModuleContents> read_module(const Bytes& file, const ReadOptions& options) {
  if (file.size == 0) return bad("not a scopevm module: empty file");
  // Kernels read constants in place. The constants are aligned only if the file is aligned.
  if (reinterpret_cast<uintptr_t>(file.data) % kAlignment != 0)
    return Status(StatusCode::kInvalidArgument, "the module's memory is not aligned to 64 bytes");
  SCOPEVM_ASSIGN_OR_RETURN(FileHeader header, read_header(file));
  SCOPEVM_ASSIGN_OR_RETURN(Sections sections, read_sections(file, header));
  SCOPEVM_RETURN_IF_ERROR(check_sections(file, sections, options));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<SectionDecl> further, read_further_sections(file, sections));

  Result<Tables> tables = read_tables(sections.bytes(file, SectionKind::kTables));
  if (!tables.ok()) return std::move(tables).status().with_context("section tables");
  SCOPEVM_RETURN_IF_ERROR(read_code(sections.bytes(file, SectionKind::kCode), *tables));
  SCOPEVM_RETURN_IF_ERROR(read_constants(file, sections, options, tables->module));
  const std::span<const uint8_t> image_section = sections.bytes(file, SectionKind::kImages);
  const Bytes image_bytes = {file.owner, image_section.data(), image_section.size()};
  BlobReader images(image_bytes, "section images");
  for (ImageDecl& image : tables->module.images) SCOPEVM_RETURN_IF_ERROR(images.take(image.bytes));
  SCOPEVM_RETURN_IF_ERROR(images.finish());
  tables->module.sections = std::move(further);
  return std::move(tables->module);
}

}  // namespace scopevm::format
