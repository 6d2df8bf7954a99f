// to_csv(): Problem -> CSV.
#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "runtime/plan/csv/columns.h"
#include "runtime/without_exceptions.h"
#include "scopevm/plan.h"

namespace scopevm::plan {
namespace {

class Printer {
 public:
  Printer(const Problem& problem, const Plan* plan) : problem_(problem), plan_(plan) {}

  Result<std::string> run() {
    SCOPEVM_RETURN_IF_ERROR(check());
    for (const Pool& pool : problem_.pools) print_pool(pool);
    choose_columns();
    for (const Column column : columns_) {
      const auto name = std::find_if(kColumnNames.begin(), kColumnNames.end(),
                                     [&](const ColumnName& n) { return n.column == column; });
      text_.append(name->name) += ',';
    }
    text_.back() = '\n';
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      for (const Column column : columns_) {
        print_field(column, i);
        text_ += ',';
      }
      text_.back() = '\n';
    }
    return std::move(text_);
  }

 private:
  static bool is_printable(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) {
      return c < ' ' || c == 0x7f || c == ',' || c == '"';
    });
  }

  // Checks that parse_csv() can read the output.
  Status check() const {
    for (const Pool& pool : problem_.pools)
      if (pool.name.empty() || !is_printable(pool.name) || pool.name.find(' ') != std::string::npos)
        return {StatusCode::kInvalidArgument,
                "the name of a pool is empty, or contains a space, comma, quote or control "
                "character, which CSV cannot express"};
    std::unordered_map<std::string_view, int> counts;
    for (const Buffer& buffer : problem_.buffers) {
      ++counts[buffer.id];
      if (!is_printable(buffer.id) || buffer.id.starts_with('#'))
        return {StatusCode::kInvalidArgument,
                "the id of a buffer starts with '#', or contains a comma, quote or control "
                "character, which CSV cannot express"};
      if (buffer.lifespans.empty())
        return {StatusCode::kInvalidArgument, "buffer \"" + buffer.id + "\": has no lifespan"};
      for (const int pool : buffer.pools)
        if (pool < 0 || static_cast<size_t>(pool) >= problem_.pools.size())
          return {StatusCode::kInvalidArgument, "buffer \"" + buffer.id + "\": pool " +
                                                    std::to_string(pool) + " has no declaration"};
    }
    for (const Buffer& buffer : problem_.buffers)
      if (buffer.base &&
          (*buffer.base < 0 || static_cast<size_t>(*buffer.base) >= problem_.buffers.size() ||
           problem_.buffers[*buffer.base].id.empty() ||
           counts[problem_.buffers[*buffer.base].id] > 1))
        return {StatusCode::kInvalidArgument,
                "buffer \"" + buffer.id + "\": its base has no unique id"};
    return {};
  }

  void choose_columns() {
    columns_ = {Column::kId, Column::kLower, Column::kUpper, Column::kSize};
    const auto add_if = [&](Column column, auto is_used) {
      if (std::any_of(problem_.buffers.begin(), problem_.buffers.end(), is_used))
        columns_.push_back(column);
    };
    add_if(Column::kAlignment, [](const Buffer& b) { return b.alignment != 1; });
    add_if(Column::kGaps, [](const Buffer& b) { return b.lifespans.size() > 1; });
    add_if(Column::kFixed, [](const Buffer& b) { return b.offset.has_value(); });
    add_if(Column::kBase, [](const Buffer& b) { return b.base.has_value(); });
    add_if(Column::kBaseOffset, [](const Buffer& b) { return b.base && b.base_offset != 0; });
    add_if(Column::kPools, [](const Buffer& b) { return !b.pools.empty(); });
    if (plan_ == nullptr || plan_->offsets.size() != problem_.buffers.size()) return;
    if (problem_.pools.size() > 1) columns_.push_back(Column::kPool);
    columns_.push_back(Column::kOffset);
  }

  void print_field(Column column, size_t index) {
    const Buffer& buffer = problem_.buffers[index];
    switch (column) {
      case Column::kId:
        text_ += buffer.id;
        return;
      case Column::kLower:
        return print(buffer.lifespans.front().lower);
      case Column::kUpper:
        return print(buffer.lifespans.back().upper);
      case Column::kSize:
        return print(buffer.size);
      case Column::kAlignment:
        return print(buffer.alignment);
      case Column::kGaps:
        return print_gaps(buffer);
      case Column::kFixed:
        if (buffer.offset) print(*buffer.offset);
        return;
      case Column::kBase:
        if (buffer.base) text_ += problem_.buffers[*buffer.base].id;
        return;
      case Column::kBaseOffset:
        if (buffer.base) print(buffer.base_offset);
        return;
      case Column::kPools:
        for (size_t i = 0; i < buffer.pools.size(); ++i)
          text_.append(i == 0 ? "" : " ").append(problem_.pools[buffer.pools[i]].name);
        return;
      case Column::kPool:
        text_ += problem_.pools[plan_->pools[index]].name;
        return;
      case Column::kOffset:
        return print(plan_->offsets[index]);
      case Column::kOther:
        return;
    }
  }

  void print_gaps(const Buffer& buffer) {
    bool is_first = true;
    for (size_t i = 1; i < buffer.lifespans.size(); ++i) {
      if (buffer.lifespans[i - 1].upper == buffer.lifespans[i].lower) continue;
      if (!std::exchange(is_first, false)) text_ += ' ';
      print(buffer.lifespans[i - 1].upper);
      text_ += '-';
      print(buffer.lifespans[i].lower);
    }
  }

  void print_pool(const Pool& pool) {
    text_.append(kPoolLine).append(",").append(pool.name).append(",");
    if (pool.limit) print(*pool.limit);
    text_ += ',';
    if (pool.cost_per_byte != 0) print(pool.cost_per_byte);
    text_ += '\n';
  }

  // The shortest text that parses to the same number.
  template <typename T>
  void print(T value) {
    char digits[32];
    text_.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
  }

  const Problem& problem_;
  const Plan* plan_;
  std::vector<Column> columns_;
  std::string text_;
};

}  // namespace

Result<std::string> to_csv(const Problem& problem, const Plan* plan) {
  return runtime::without_exceptions([&] { return Printer(problem, plan).run(); });
}

}  // namespace scopevm::plan
