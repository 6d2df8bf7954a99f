// The kinds of rows of the table of options. Each function makes the row of a member.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/options/table.h"
#include "runtime/nearest_name.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::options {

using Kind = NamedOption::Kind;

inline Status invalid_value(const Value& value, const std::string& expected) {
  return {StatusCode::kInvalidArgument, runtime::quoted(value.text) + ": " + expected};
}

// An option of `compile` only.
inline Row compile_only(Row row) {
  row.option.is_for_explain = false;
  return row;
}

// An option that does not change the module.
inline Row without_effect_on_module(Row row) {
  row.add_to_key = nullptr;
  return row;
}

inline Row flag(std::string name, bool CompileOptions::* member, std::string description) {
  return {{std::move(name), Kind::kFlag, std::move(description), "false"},
          [member](const Target& target, const Value& value) -> Status {
            if (value.text != "true" && value.text != "false")
              return invalid_value(value, "expected true or false");
            target.compile.*member = value.text == "true";
            return {};
          },
          [member](const CompileOptions& options, Key& key) {
            key.add(options.*member ? "true" : "false");
          }};
}

template <typename T>
Row number(std::string name, T CompileOptions::* member, std::string description) {
  return {{std::move(name), Kind::kNumber, std::move(description),
           std::to_string(CompileOptions().*member)},
          [member](const Target& target, const Value& value) -> Status {
            T parsed{};
            const char* const end = value.text.data() + value.text.size();
            const auto [stop, error] = std::from_chars(value.text.data(), end, parsed);
            if (error != std::errc() || stop != end || parsed < 0)
              return invalid_value(value, "expected an integer from 0 to " +
                                              std::to_string(std::numeric_limits<T>::max()));
            target.compile.*member = parsed;
            return {};
          },
          [member](const CompileOptions& options, Key& key) {
            key.add(std::to_string(options.*member));
          }};
}

inline Row text(std::string name, std::string CompileOptions::* member, std::string description) {
  return {{std::move(name), Kind::kText, std::move(description), ""},
          [member](const Target& target, const Value& value) -> Status {
            target.compile.*member = value.text;
            return {};
          },
          [member](const CompileOptions& options, Key& key) { key.add(options.*member); }};
}

// An empty value resets the list.
inline Row list(std::string name, std::vector<std::string> CompileOptions::* member,
                std::string description) {
  return {{std::move(name), Kind::kList, std::move(description), ""},
          [member](const Target& target, const Value& value) -> Status {
            if (value.text.empty())
              (target.compile.*member).clear();
            else
              (target.compile.*member).push_back(value.text);
            return {};
          },
          [member](const CompileOptions& options, Key& key) {
            key.add(std::to_string((options.*member).size()));
            for (const std::string& element : options.*member) key.add(element);
          }};
}

// `choices` contains the default value of the member.
template <typename T>
Row choice(std::string name, T CompileOptions::* member,
           const std::vector<std::pair<std::string, T>>& choices, std::string description) {
  std::string initial;
  std::vector<std::string> names;
  for (const auto& [text, value] : choices) {
    if (value == CompileOptions().*member) initial = text;
    names.push_back(text);
  }
  return {{std::move(name), Kind::kChoice, std::move(description), initial, names},
          [=](const Target& target, const Value& value) -> Status {
            for (const auto& [text, chosen] : choices) {
              if (text != value.text) continue;
              target.compile.*member = chosen;
              return {};
            }
            return invalid_value(value,
                                 "unknown value" + runtime::name_suggestion(value.text, names));
          },
          [member](const CompileOptions& options, Key& key) {
            key.add(std::to_string(static_cast<int>(options.*member)));
          }};
}

// `file_name`: the member for the name of the file in messages. An empty value resets both.
inline Row file(std::string name, std::string CompileOptions::* member,
                std::string CompileOptions::* file_name, std::string description) {
  return {{std::move(name), Kind::kFile, std::move(description), ""},
          [=](const Target& target, const Value& value) -> Status {
            target.compile.*member = value.text;
            target.compile.*file_name =
                value.text.empty() ? CompileOptions().*file_name : value.file;
            return {};
          },
          [member](const CompileOptions& options, Key& key) { key.add(options.*member); }};
}

}  // namespace scopevm::compiler::options
