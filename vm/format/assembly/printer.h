// The visitors of vm/format/schema/records.h that print assembly.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "vm/format/assembly/spelling.h"
#include "vm/format/schema/records.h"

namespace scopevm::format::assembly {

// Prints the members of one record, except for its lists. Each part is preceded by one space.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void word(std::string_view word) {
    if (!word.empty()) out_ += ' ';
    out_ += word;
  }
  void value(const auto& value) {
    out_ += ' ';
    append(value);
  }

  void bare(std::string_view, const auto& value) { this->value(value); }
  void named(std::string_view name, const auto& value) { named(name, value, name); }
  void named(std::string_view, const auto& value, std::string_view word) {
    this->word(word);
    this->value(value);
  }
  template <typename T>
  void optional(std::string_view name, const T& value, const std::type_identity_t<T>& usual = {}) {
    optional(name, value, usual, name);
  }
  template <typename T>
  void optional(std::string_view, const T& value, const std::type_identity_t<T>& usual,
                std::string_view word) {
    if (value == usual) return;
    if constexpr (!Enumeration<T>) this->word(word);
    if constexpr (!std::same_as<T, bool>) this->value(value);
  }
  template <typename Number>
  void limited(std::string_view name, const Number& value, Range<Number>,
               const std::type_identity_t<Number>& usual = {}) {
    optional(name, value, usual);
  }
  void slot(std::string_view, uint32_t slot, std::string_view word = "") {
    this->word(word);
    out_ += " s" + std::to_string(slot);
  }
  void optional_slots(std::string_view, const std::vector<uint32_t>& slots) {
    if (slots.empty()) return;
    out_ += ' ';
    append_list(slots, [this](uint32_t slot) { out_ += "s" + std::to_string(slot); });
  }
  template <typename Record>
  void part(std::string_view name, const std::optional<Record>& record) {
    if (!record) return;
    word(name);
    visit(*this, *record);
  }
  void size(std::string_view, const auto&) {}
  void list(std::string_view, const auto&, std::string_view) {}

 private:
  void append(const std::string& text) { append_quoted(out_, text); }
  void append(std::integral auto number) { out_ += std::to_string(number); }
  // The shortest representation that reads back as the same number.
  void append(double number) {
    char text[32];
    out_.append(text, std::to_chars(text, text + sizeof text, number).ptr);
  }
  void append(isa::Int value) { out_ += int_text(value); }
  void append(DType dtype) { out_ += scopevm::name(dtype); }
  void append(Enumeration auto value) { out_ += name_of(value); }
  void append(const ExternalTensor& tensor) {
    append(tensor.dtype);
    value(tensor.rank);
  }
  template <typename T>
  void append(const std::vector<T>& values) {
    append_list(values, [this](const T& value) { append(value); });
  }
  void append_list(const auto& values, auto each) {
    out_ += '[';
    std::string_view separator;
    for (const auto& value : values) {
      out_ += separator;
      each(value);
      separator = ", ";
    }
    out_ += ']';
  }

  std::string& out_;
};

}  // namespace scopevm::format::assembly
