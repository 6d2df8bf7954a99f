// Sets options by name (scopevm/compile_options.h).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "compiler/options/table.h"
#include "runtime/nearest_name.h"
#include "runtime/quoted.h"
#include "runtime/without_exceptions.h"

namespace scopevm {
namespace {

using compiler::options::Row;
using compiler::options::table;

Result<const Row*> find_row(std::string_view name) {
  const auto found =
      std::ranges::find_if(table(), [&](const Row& row) { return row.option.name == name; });
  if (found != table().end()) return &*found;
  std::vector<std::string> names;
  for (const Row& row : table()) names.push_back(row.option.name);
  return Status(StatusCode::kInvalidArgument, "unknown compile option " + runtime::quoted(name) +
                                                  runtime::name_suggestion(name, names));
}

Result<std::string> contents_of(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  std::string contents;
  char block[4096];
  size_t count = 0;
  while (file && (count = std::fread(block, 1, sizeof block, file.get())) > 0)
    contents.append(block, count);
  if (file && std::ferror(file.get()) == 0) return contents;
  return Status(StatusCode::kNotFound,
                runtime::escaped(path) + ": cannot read: " + std::strerror(errno));
}

// The value of an option that is the contents of a file. An empty value resets the option. A blank
// is an empty file, too.
std::string value_of(std::string contents) { return contents.empty() ? " " : std::move(contents); }

}  // namespace

const std::vector<NamedOption>& named_options() {
  static const std::vector<NamedOption> options = [] {
    std::vector<NamedOption> all;
    for (const Row& row : table()) all.push_back(row.option);
    return all;
  }();
  return options;
}

Status OptionSetter::set(std::string_view name, std::string_view value) {
  return runtime::without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Row* row, find_row(name));
    std::string text(value), file;
    if (row->option.kind == NamedOption::Kind::kFile && !value.empty()) {
      file = text;
      SCOPEVM_ASSIGN_OR_RETURN(text, contents_of(file));
      text = value_of(std::move(text));
    }
    return row->set({compile, dims_, variants_, bounds_}, {std::move(text), std::move(file)});
  });
}

Status OptionSetter::set_contents(std::string_view name, std::string_view contents,
                                  std::string_view file_name) {
  return runtime::without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Row* row, find_row(name));
    if (row->option.kind != NamedOption::Kind::kFile)
      return Status(StatusCode::kInvalidArgument,
                    "the value of compile option " + runtime::quoted(name) + " is not a file");
    return row->set({compile, dims_, variants_, bounds_},
                    {value_of(std::string(contents)), std::string(file_name)});
  });
}

}  // namespace scopevm
