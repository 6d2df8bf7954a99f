// Reads ELF symbol tables and demangles names; see symbols.h.
#include "tools/lab/record/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "runtime/mapped_file.h"

namespace scopevm::lab {
namespace {

// Reads structures of a file, with checks of their bounds.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path) {
    if (auto file = runtime::map_file(path); file.ok()) file_ = *std::move(file);
    header_ = at<Elf64_Ehdr>(0);
    if (header_ != nullptr && (std::memcmp(header_->e_ident, ELFMAG, SELFMAG) != 0 ||
                               header_->e_ident[EI_CLASS] != ELFCLASS64))
      header_ = nullptr;
  }
  const Elf64_Ehdr* header() const { return header_; }

  template <typename T>
  const T* at(uint64_t offset) const {
    if (offset > file_.size || file_.size - offset < sizeof(T) || offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(file_.data + offset);
  }
  std::string string_at(const Elf64_Shdr& table, uint64_t index) const {
    if (index >= table.sh_size || table.sh_offset > file_.size ||
        file_.size - table.sh_offset < table.sh_size)
      return "";
    const auto* text = reinterpret_cast<const char*>(file_.data + table.sh_offset + index);
    return {text, strnlen(text, table.sh_size - index)};
  }
  const Elf64_Shdr* section(uint64_t index) const {
    return at<Elf64_Shdr>(header_->e_shoff + index * sizeof(Elf64_Shdr));
  }

 private:
  runtime::MappedFile file_;
  const Elf64_Ehdr* header_ = nullptr;
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

SymbolTable::SymbolTable(const std::string& path) {
  const ElfFile file(path);
  if (file.header() == nullptr) return;
  for (uint64_t i = 0; i < file.header()->e_phnum; ++i)
    if (const auto* segment = file.at<Elf64_Phdr>(file.header()->e_phoff + i * sizeof(Elf64_Phdr));
        segment != nullptr && segment->p_type == PT_LOAD)
      segments_.push_back({segment->p_offset, segment->p_filesz, segment->p_vaddr});
  for (uint64_t i = 0; i < file.header()->e_shnum; ++i) {
    const Elf64_Shdr* section = file.section(i);
    if (section == nullptr || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM))
      continue;
    const Elf64_Shdr* strings = file.section(section->sh_link);
    for (uint64_t at = 0; strings != nullptr && at < section->sh_size; at += sizeof(Elf64_Sym))
      if (const auto* symbol = file.at<Elf64_Sym>(section->sh_offset + at);
          symbol != nullptr && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value != 0)
        functions_.push_back({symbol->st_value, symbol->st_value + symbol->st_size,
                              file.string_at(*strings, symbol->st_name)});
  }
  std::ranges::stable_sort(functions_, {}, &Function::begin);
}

std::string SymbolTable::function_at(uint64_t file_offset) const {
  const auto segment = std::ranges::find_if(segments_, [&](const Segment& candidate) {
    return file_offset >= candidate.offset && file_offset - candidate.offset < candidate.bytes;
  });
  if (segment == segments_.end()) return "";
  const uint64_t address = file_offset - segment->offset + segment->address;
  auto function = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
  if (function == functions_.begin()) return "";
  --function;
  return address < function->end ? demangled(function->name) : "";
}

Symbolizer::Symbolizer(std::string_view mappings) {
  std::istringstream lines{std::string(mappings)};
  for (std::string line; std::getline(lines, line);) {
    uint64_t begin = 0, end = 0, offset = 0;
    char permissions[5] = "";
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &begin, &end, permissions, &offset,
                    &path) != 4 ||
        path == 0 || permissions[2] != 'x')
      continue;
    mappings_[begin] = {end, offset, line.substr(static_cast<size_t>(path))};
  }
}

const std::string& Symbolizer::name(uint64_t return_address) {
  const auto [entry, is_new] = names_.try_emplace(return_address);
  if (is_new) entry->second = find_name(return_address);
  return entry->second;
}

std::string Symbolizer::find_name(uint64_t return_address) {
  const uint64_t call = return_address - 1;  // inside the call instruction
  auto mapping = mappings_.upper_bound(call);
  std::string unknown = fmt::format("{:#x}", return_address);
  if (mapping == mappings_.begin()) return unknown;
  --mapping;
  if (call >= mapping->second.end) return unknown;
  const uint64_t offset = call - mapping->first + mapping->second.file_offset;
  const std::string& path = mapping->second.path;
  const std::string library = path.substr(path.rfind('/') + 1);
  const std::string function = table(path).function_at(offset);
  if (function.empty()) return fmt::format("{}+{:#x}", library, offset + 1);
  return fmt::format("{} ({})", function, library);
}

const SymbolTable& Symbolizer::table(const std::string& path) {
  return tables_.try_emplace(path, path).first->second;
}

}  // namespace scopevm::lab
