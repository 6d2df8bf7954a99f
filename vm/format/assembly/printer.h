// The printing visitor of declarations.h. Each part is preceded by one space.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "vm/format/assembly/spelling.h"

namespace scopevm::format::assembly {

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void word(std::string_view word) {
    out_ += ' ';
    out_ += word;
  }
  void string(const std::string& text) {
    out_ += ' ';
    append_quoted(out_, text);
  }
  template <typename Number>
  void number(const Number& number) {
    word(std::to_string(number));
  }
  void slot(const uint32_t& slot) { word("s" + std::to_string(slot)); }
  // Omitted if empty.
  void slots(const std::vector<uint32_t>& slots) {
    if (!slots.empty()) list(slots, [this](uint32_t slot) { out_ += "s" + std::to_string(slot); });
  }
  void integer(isa::Int value) { word(int_text(value)); }
  void integers(const std::vector<isa::Int>& values) {
    list(values, [this](isa::Int value) { out_ += int_text(value); });
  }
  void dtype(const DType& dtype) { word(scopevm::name(dtype)); }
  template <typename Enum, size_t kCount>
  void choice(const Enum& value, const std::string_view (&names)[kCount]) {
    word(names[static_cast<size_t>(value)]);
  }
  template <typename Enum, size_t kCount>
  void optional_choice(const Enum& value, const std::string_view (&names)[kCount]) {
    if (static_cast<size_t>(value) != 0) choice(value, names);
  }
  void flag(const bool& value, std::string_view name) {
    if (value) word(name);
  }
  template <typename Part, typename Visit>
  void optional_part(std::string_view name, const std::optional<Part>& part, Visit visit) {
    if (!part) return;
    word(name);
    visit(*part);
  }
  template <typename Tensor>
  void tensor_types(const std::vector<Tensor>& tensors) {
    list(tensors, [this](const Tensor& tensor) {
      out_ += scopevm::name(tensor.dtype);
      number(tensor.rank);
    });
  }
  void strings(const std::vector<std::string>& values) {
    list(values, [this](const std::string& value) { append_quoted(out_, value); });
  }
  template <typename Number>
  void optional_number(std::string_view name, Number value,
                       std::type_identity_t<Number> usual = 0) {
    if (value == usual) return;
    word(name);
    number(value);
  }
  // Prints the shortest representation that reads back as the same number.
  void optional_real(std::string_view name, double value) {
    if (value == 0) return;
    word(name);
    char text[32];
    word({text, std::to_chars(text, text + sizeof text, value).ptr});
  }
  template <typename Number>
  void optional_numbers(std::string_view name, const std::vector<Number>& values) {
    if (values.empty()) return;
    word(name);
    numbers(values);
  }
  template <typename Number>
  void numbers(const std::vector<Number>& values) {
    list(values, [this](Number value) { out_ += std::to_string(value); });
  }

 private:
  template <typename Values, typename Each>
  void list(const Values& values, Each each) {
    out_ += " [";
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
