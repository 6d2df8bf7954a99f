// The columns of the CSV format of problems; docs/planning.md describes them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace scopevm::plan {

enum class Column : uint8_t {
  kId,
  kLower,
  kUpper,
  kSize,
  kAlignment,
  kGaps,
  kFixed,
  kBase,
  kBaseOffset,
  kPools,
  kPool,
  kOffset,
  kOther,  // ignored
};

struct ColumnName {
  Column column;
  std::string_view name;
};

// The name that is printed is the first of each column. The others are synonyms.
inline constexpr std::array kColumnNames = {
    ColumnName{Column::kId, "id"},         ColumnName{Column::kId, "buffer"},
    ColumnName{Column::kLower, "lower"},   ColumnName{Column::kLower, "start"},
    ColumnName{Column::kUpper, "upper"},   ColumnName{Column::kUpper, "end"},
    ColumnName{Column::kSize, "size"},     ColumnName{Column::kAlignment, "alignment"},
    ColumnName{Column::kGaps, "gaps"},     ColumnName{Column::kFixed, "fixed"},
    ColumnName{Column::kBase, "base"},     ColumnName{Column::kBaseOffset, "base_offset"},
    ColumnName{Column::kPools, "pools"},   ColumnName{Column::kPool, "pool"},
    ColumnName{Column::kOffset, "offset"},
};

// Starts the declaration of a pool: pool,NAME,LIMIT,COST.
inline constexpr std::string_view kPoolLine = "pool";

}  // namespace scopevm::plan
