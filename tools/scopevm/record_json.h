// The JSON of a record of a module.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/format/schema/records.h"

namespace scopevm::tool {

// Visits a record of a verified module: collects its members. An index of another record is
// replaced by its name, and omitted if it is absent. Slots are omitted.
class RecordJson {
 public:
  explicit RecordJson(const format::ModuleContents& module) : module_(module) {}

  nlohmann::ordered_json take() { return std::move(out_); }

  void bare(std::string_view name, const auto& value) { set(name, value); }
  void named(std::string_view name, const auto& value, std::string_view = "") { set(name, value); }
  template <typename T>
  void optional(std::string_view name, const T& value, const std::type_identity_t<T>& usual = {},
                std::string_view = "") {
    if (!format::Enumeration<T> || value != usual) set(name, value);
  }
  void limited(std::string_view name, const auto& value, auto&&...) { set(name, value); }
  void slot(auto&&...) {}
  void optional_slots(auto&&...) {}
  template <typename Record>
  void part(std::string_view name, const std::optional<Record>& record) {
    if (record) out_[std::string(name)] = of(module_, *record);
  }
  void size(std::string_view name, const std::vector<uint32_t>& code) { set(name, code.size()); }
  void size(std::string_view name, const format::Bytes& bytes) { set(name, bytes.size); }
  template <typename Record>
  void list(std::string_view name, const std::vector<Record>& records, std::string_view) {
    out_[std::string(name)] = of(module_, records);
  }

  template <typename Record>
  static nlohmann::ordered_json of(const format::ModuleContents& module, const Record& record) {
    RecordJson json(module);
    format::visit(json, record);
    return json.take();
  }
  template <typename Record>
  static nlohmann::ordered_json of(const format::ModuleContents& module,
                                   const std::vector<Record>& records) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Record& record : records) out.push_back(of(module, record));
    return out;
  }

 private:
  static bool is_device(std::string_view name) {
    return name == "device" || name == "devices" || name == "shared_with" || name == "pinned_for";
  }

  void set(std::string_view name, const std::string& text) { out_[std::string(name)] = text; }
  void set(std::string_view name, double number) { out_[std::string(name)] = number; }
  void set(std::string_view name, bool flag) { out_[std::string(name)] = flag; }
  void set(std::string_view name, DType dtype) { set(name, std::string(scopevm::name(dtype))); }
  void set(std::string_view name, format::Enumeration auto value) {
    set(name, std::string(format::name_of(value)));
  }
  void set(std::string_view name, std::integral auto value) {
    if (name == "pool") {
      const format::PoolDecl& pool = module_.pools[value];
      set("device", pool.device);
      set("scope", pool.scope);
    } else if (name == "function") {
      set(name, module_.functions[value].name);
    } else if (!is_device(name)) {
      out_[std::string(name)] = value;
    } else if (std::cmp_greater_equal(value, 0)) {
      set(name, module_.devices[value].name);
    }
  }
  template <typename T>
  void set(std::string_view name, const std::vector<T>& values) {
    nlohmann::ordered_json& out = out_[std::string(name)] = nlohmann::ordered_json::array();
    for (const T& value : values) {
      if constexpr (std::integral<T>) {
        if (is_device(name)) {
          out.push_back(module_.devices[value].name);
          continue;
        }
      }
      out.push_back(value);
    }
  }

  const format::ModuleContents& module_;
  nlohmann::ordered_json out_;
};

}  // namespace scopevm::tool
