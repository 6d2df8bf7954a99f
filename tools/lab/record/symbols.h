// Names of return addresses of another process, from its memory mappings and the symbol tables of
// its files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace scopevm::lab {

// The functions of an ELF file, from .symtab and .dynsym.
class SymbolTable {
 public:
  // A file that cannot be read or is not a 64-bit ELF file has no symbols.
  explicit SymbolTable(const std::string& path);
  // The demangled function that contains the byte at this offset of the file; empty if unknown.
  std::string function_at(uint64_t file_offset) const;

 private:
  struct Function {
    uint64_t begin;  // virtual addresses
    uint64_t end;
    std::string name;
  };
  struct Segment {
    uint64_t offset;
    uint64_t bytes;
    uint64_t address;
  };
  std::vector<Segment> segments_;
  std::vector<Function> functions_;  // by begin
};

class Symbolizer {
 public:
  // `mappings` are one or more copies of /proc/PID/maps; later ones take precedence.
  explicit Symbolizer(std::string_view mappings);
  // "function (library)", or "library+0x1234" without a symbol, or the address outside of files.
  // The reference is valid until the next call.
  const std::string& name(uint64_t return_address);

 private:
  struct Mapping {
    uint64_t end;
    uint64_t file_offset;
    std::string path;
  };
  std::string find_name(uint64_t return_address);
  const SymbolTable& table(const std::string& path);

  std::map<uint64_t, Mapping> mappings_;  // by first address
  std::unordered_map<std::string, SymbolTable> tables_;
  std::unordered_map<uint64_t, std::string> names_;
};

}  // namespace scopevm::lab
