// References from instructions to a module's table entries: @name, @"any name" or #index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/format/schema/module_contents.h"
#include "vm/isa/opcodes.h"

namespace scopevm::format::assembly {

// Symbol tables of functions, shape functions, launches, constants, pools and messages. A name that
// occurs more than once denotes its first entry. The module must outlive this object.
class References {
 public:
  explicit References(const ModuleContents& module);

  // @name if it resolves to `index`, else #index.
  std::string print(isa::FieldForm form, uint32_t index) const;
  std::optional<uint32_t> find(isa::FieldForm form, std::string_view name) const;

 private:
  struct Table {
    std::vector<std::string_view> names;
    std::unordered_map<std::string_view, uint32_t> index_of;

    void add(std::string_view name) {
      index_of.emplace(name, static_cast<uint32_t>(names.size()));
      names.push_back(name);
    }
  };
  Table& table(isa::FieldForm form) { return tables_[static_cast<size_t>(form)]; }
  const Table& table(isa::FieldForm form) const { return tables_[static_cast<size_t>(form)]; }

  // By the form of the referring field. Empty for forms that do not refer to a table.
  std::vector<Table> tables_;
};

}  // namespace scopevm::format::assembly
