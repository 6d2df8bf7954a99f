// parse_csv(): CSV -> Problem. parse_plan_csv(): CSV -> Problem and Plan.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/plan/csv/columns.h"
#include "runtime/without_exceptions.h"
#include "scopevm/plan.h"

namespace scopevm::plan {
namespace {

// Removes and returns the text up to `end`, and removes `end`.
std::string_view take(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

template <typename T>
bool parse_number(std::string_view text, T& value) {
  const auto [stop, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && stop == text.end();
}

// A field for a message: shortened, and without control characters.
std::string quoted(std::string_view field) {
  constexpr size_t kMost = 40;
  std::string text = "\"" + std::string(field.substr(0, kMost));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return text + (field.size() > kMost ? "...\"" : "\"");
}

class Parser {
 public:
  // `has_plan`: the column `offset` is required, and the column `pool` is read.
  explicit Parser(bool has_plan) : has_plan_(has_plan) {}

  Result<PlannedProblem> run(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // UTF-8 byte order mark
    for (line_ = 1; !text.empty(); ++line_) {
      std::string_view row = take(text, '\n');
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (row.empty() || row.starts_with('#')) continue;
      SCOPEVM_RETURN_IF_ERROR(parse_line(row));
    }
    if (columns_.empty())
      return Status(StatusCode::kInvalidModel, "expected a header line: id,lower,upper,size");
    SCOPEVM_RETURN_IF_ERROR(resolve_bases());
    return PlannedProblem{std::move(problem_), std::move(plan_)};
  }

 private:
  Status fail(const std::string& message) const { return fail_at(line_, message); }
  static Status fail_at(int64_t line, const std::string& message) {
    return {StatusCode::kInvalidModel, "line " + std::to_string(line) + ": " + message};
  }

  Status parse_line(std::string_view row) {
    if (row.find('"') != std::string_view::npos) return fail("quoted fields are not supported");
    split(row);
    if (!columns_.empty()) return parse_buffer();
    return fields_[0] == kPoolLine ? parse_pool() : parse_header();
  }

  void split(std::string_view row) {
    fields_.clear();
    const bool has_empty_end = row.ends_with(',');
    while (!row.empty()) fields_.push_back(take(row, ','));
    if (has_empty_end) fields_.emplace_back();
  }

  Status parse_pool() {
    Pool pool;
    fields_.resize(std::max<size_t>(fields_.size(), 4));
    if (fields_.size() > 4 || fields_[1].empty() || pool_index_.contains(fields_[1]))
      return fail("expected pool,NAME[,LIMIT[,COST]] with a new name");
    if (fields_[1].find(' ') != std::string_view::npos)
      return fail("pool " + quoted(fields_[1]) + ": expected a name without spaces");
    pool.name = fields_[1];
    int64_t limit = 0;
    if (!fields_[2].empty()) {
      if (!parse_number(fields_[2], limit) || limit < 0)
        return fail("limit " + quoted(fields_[2]) + ": expected a number of bytes");
      pool.limit = limit;
    }
    if (!fields_[3].empty() &&
        (!parse_number(fields_[3], pool.cost_per_byte) || !std::isfinite(pool.cost_per_byte)))
      return fail("cost " + quoted(fields_[3]) + ": expected a number");
    pool_index_.emplace(fields_[1], static_cast<int>(problem_.pools.size()));
    problem_.pools.push_back(std::move(pool));
    return {};
  }

  Status parse_header() {
    for (const std::string_view field : fields_) {
      const auto known = std::find_if(kColumnNames.begin(), kColumnNames.end(),
                                      [&](const ColumnName& name) { return name.name == field; });
      const Column column = known == kColumnNames.end() ? Column::kOther : known->column;
      if (column != Column::kOther && has(column))
        return fail("column " + quoted(field) + " occurs twice");
      columns_.push_back(column);
    }
    for (const auto& [column, name] :
         {std::pair(Column::kLower, "lower"), std::pair(Column::kUpper, "upper"),
          std::pair(Column::kSize, "size")})
      if (!has(column)) return fail("missing column \"" + std::string(name) + "\"");
    if (has_plan_ && !has(Column::kOffset)) return fail("missing column \"offset\"");
    return {};
  }

  bool has(Column column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }

  Status parse_buffer() {
    if (fields_.size() != columns_.size())
      return fail("expected " + std::to_string(columns_.size()) + " fields, given " +
                  std::to_string(fields_.size()));
    Buffer buffer;
    Lifespan span;
    std::string_view gaps;
    for (size_t i = 0; i < fields_.size(); ++i)
      SCOPEVM_RETURN_IF_ERROR(parse_field(columns_[i], fields_[i], buffer, span, gaps));
    if (!has(Column::kId)) buffer.id = std::to_string(problem_.buffers.size());
    if (span.lower >= span.upper)
      return fail("lifespan [" + std::to_string(span.lower) + ", " + std::to_string(span.upper) +
                  "): expected lower < upper");
    if (buffer.size < 0) return fail("size " + std::to_string(buffer.size) + " is negative");
    if (has_plan_) SCOPEVM_RETURN_IF_ERROR(add_to_plan(buffer.size));
    SCOPEVM_RETURN_IF_ERROR(parse_gaps(gaps, span, buffer.lifespans));
    problem_.buffers.push_back(std::move(buffer));
    return {};
  }

  Status parse_field(Column column, std::string_view field, Buffer& buffer, Lifespan& span,
                     std::string_view& gaps) {
    switch (column) {
      case Column::kId:
        return parse_id(field, buffer.id);
      case Column::kLower:
        return parse_int(field, "lower", span.lower);
      case Column::kUpper:
        return parse_int(field, "upper", span.upper);
      case Column::kSize:
        return parse_int(field, "size", buffer.size);
      case Column::kAlignment:
        return field.empty() ? Status() : parse_int(field, "alignment", buffer.alignment);
      case Column::kFixed:
        return field.empty() ? Status() : parse_int(field, "fixed", buffer.offset.emplace());
      case Column::kOffset:
        return field.empty() && !has_plan_ ? Status() : parse_int(field, "offset", offset_);
      case Column::kBaseOffset:
        return field.empty() ? Status() : parse_int(field, "base_offset", buffer.base_offset);
      case Column::kBase:
        return note_base(field);
      case Column::kPools:
        return parse_pools(field, buffer.pools);
      case Column::kGaps:
        gaps = field;
        return {};
      case Column::kPool:
        pool_ = field;
        return {};
      case Column::kOther:
        return {};
    }
    return {};
  }

  // Adds the offset and the pool of the current line.
  Status add_to_plan(int64_t size) {
    if (offset_ < 0 || size > INT64_MAX - offset_)
      return fail("offset " + std::to_string(offset_) +
                  ": expected at least 0, and an end of the "
                  "buffer that fits 64 bits");
    int pool = 0;
    if (has(Column::kPool)) {
      const auto [known, is_new] =
          pool_index_.emplace(pool_, static_cast<int>(problem_.pools.size()));
      if (is_new) problem_.pools.push_back({.name = std::string(pool_)});
      pool = known->second;
    }
    plan_.offsets.push_back(offset_);
    plan_.pools.push_back(pool);
    plan_.height = std::max(plan_.height, offset_ + size);
    return {};
  }

  Status parse_int(std::string_view field, const char* column, int64_t& value) const {
    if (parse_number(field, value)) return {};
    return fail(std::string(column) + " " + quoted(field) + ": expected a number of 64 bits");
  }

  Status parse_id(std::string_view field, std::string& id) const {
    const bool is_printable = std::none_of(field.begin(), field.end(),
                                           [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (!is_printable) return fail("id " + quoted(field) + " contains a control character");
    id = field;
    return {};
  }

  // "7-9 12-17": cuts these intervals out of the lifespan.
  Status parse_gaps(std::string_view gaps, Lifespan span, std::vector<Lifespan>& result) const {
    while (!gaps.empty()) {
      const std::string_view gap = take(gaps, ' ');
      if (gap.empty()) continue;
      Lifespan pause;
      const size_t dash = gap.find('-', 1);  // a '-' at the start is a sign
      if (dash == std::string_view::npos || !parse_number(gap.substr(0, dash), pause.lower) ||
          !parse_number(gap.substr(dash + 1), pause.upper) || pause.lower >= pause.upper)
        return fail("gap " + quoted(gap) + ": expected LOWER-UPPER with LOWER < UPPER");
      if (pause.lower < span.lower || pause.upper > span.upper)
        return fail("gap " + quoted(gap) +
                    ": expected ascending, disjoint gaps inside the lifespan");
      if (pause.lower > span.lower) result.push_back({span.lower, pause.lower});
      span.lower = pause.upper;
    }
    if (span.lower < span.upper) result.push_back(span);
    return result.empty() ? fail("the gaps leave no step of the lifespan") : Status();
  }

  Status parse_pools(std::string_view names, std::vector<int>& pools) const {
    while (!names.empty()) {
      const std::string_view name = take(names, ' ');
      if (name.empty()) continue;
      const auto found = pool_index_.find(name);
      if (found == pool_index_.end())
        return fail("pool " + quoted(name) + " is not declared; expected a line pool," +
                    std::string(name.substr(0, 40)) + " before the header");
      pools.push_back(found->second);
    }
    return {};
  }

  Status note_base(std::string_view field) {
    if (!field.empty()) bases_.push_back({static_cast<int>(problem_.buffers.size()), field, line_});
    return {};
  }

  // A base can be on a later line than its views.
  Status resolve_bases() {
    if (bases_.empty()) return {};
    std::unordered_map<std::string_view, int> index;
    std::unordered_map<std::string_view, int> count;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      index[problem_.buffers[i].id] = static_cast<int>(i);
      ++count[problem_.buffers[i].id];
    }
    for (const auto& [buffer, id, line] : bases_) {
      if (!count.contains(id)) return fail_at(line, "base " + quoted(id) + ": no such buffer");
      if (count[id] > 1) return fail_at(line, "base " + quoted(id) + " is the id of two buffers");
      problem_.buffers[buffer].base = index[id];
    }
    return {};
  }

  struct Base {
    int buffer;
    std::string_view id;
    int64_t line;
  };

  const bool has_plan_;
  Problem problem_;
  Plan plan_;
  std::vector<Column> columns_;
  std::vector<std::string_view> fields_;  // of the current line
  int64_t offset_ = 0;                    // of the current line
  std::string_view pool_;                 // of the current line
  std::map<std::string_view, int> pool_index_;
  std::vector<Base> bases_;
  int64_t line_ = 0;
};

}  // namespace

Result<Problem> parse_csv(std::string_view text) {
  return runtime::without_exceptions([&]() -> Result<Problem> {
    SCOPEVM_ASSIGN_OR_RETURN(PlannedProblem parsed, Parser(false).run(text));
    return std::move(parsed.problem);
  });
}

Result<PlannedProblem> parse_plan_csv(std::string_view text) {
  return runtime::without_exceptions([&] { return Parser(true).run(text); });
}

}  // namespace scopevm::plan
