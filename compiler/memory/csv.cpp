// Reads and writes plans as CSV, in the format of the public minimalloc instances.
#include <algorithm>
#include <charconv>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

std::string to_csv(const std::vector<PlannedBuffer>& buffers) {
  bool has_offsets = !buffers.empty() && buffers.front().offset.has_value();
  std::string text = has_offsets ? "id,lower,upper,size,offset\n" : "id,lower,upper,size\n";
  for (const PlannedBuffer& b : buffers) {
    text += std::to_string(b.id) + "," + std::to_string(b.lower) + "," + std::to_string(b.upper) +
            "," + std::to_string(b.size);
    if (has_offsets) text += "," + std::to_string(*b.offset);
    text += "\n";
  }
  return text;
}

namespace {

std::string_view take(std::string_view& text, char end) {
  size_t at = std::min(text.find(end), text.size());
  std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

bool parse(std::string_view field, int64_t& value) {
  auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

Status check_columns(const std::vector<std::string>& columns, int line) {
  auto has = [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  for (auto [name, other] : {std::pair("lower", "start"), {"upper", "end"}, {"size", "size"}})
    if (!has(name) && !has(other))
      return Status(
          StatusCode::kInvalidModel,
          "line " + std::to_string(line) + ": missing column \"" + std::string(name) + "\"");
  return {};
}

}  // namespace

Result<std::vector<PlannedBuffer>> parse_csv(std::string_view text) {
  std::vector<PlannedBuffer> buffers;
  std::vector<std::string> columns;
  for (int line = 1; !text.empty(); ++line) {
    std::string_view row = take(text, '\n');
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (row.empty()) continue;
    if (columns.empty()) {
      while (!row.empty()) columns.emplace_back(take(row, ','));
      SCOPEVM_RETURN_IF_ERROR(check_columns(columns, line));
      continue;
    }
    PlannedBuffer buffer;
    int id = static_cast<int>(buffers.size());
    buffer.id = id;
    for (const std::string& column : columns) {
      int64_t value = 0;
      std::string_view field = take(row, ',');
      bool is_name = column == "id" || column == "buffer";
      // The public instances use names such as "b12" as ids. Such a buffer gets its position as its
      // id.
      if (!parse(field, value) && !is_name)
        return Status(StatusCode::kInvalidModel, "line " + std::to_string(line) + ": \"" +
                                                     std::string(field) + "\" is not a number");
      if (is_name) buffer.id = parse(field, value) ? static_cast<int>(value) : id;
      if (column == "lower" || column == "start") buffer.lower = value;
      if (column == "upper" || column == "end") buffer.upper = value;
      if (column == "size") buffer.size = value;
      if (column == "offset") buffer.offset = value;
    }
    if (buffer.lower >= buffer.upper || buffer.size < 0)
      return Status(StatusCode::kInvalidModel,
                    "line " + std::to_string(line) + ": expected lower < upper and size >= 0");
    buffers.push_back(buffer);
  }
  if (columns.empty()) return Status(StatusCode::kInvalidModel, "missing header line");
  return buffers;
}

}  // namespace scopevm::compiler::memory
