// Finds the most similar name by edit distance; see nearest_name.h.
#include "runtime/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace scopevm::runtime {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The Levenshtein distance of two names, ignoring case.
size_t edit_distance(std::string_view a, std::string_view b) {
  // The algorithm of Wagner and Fischer (1974), with one row of the table.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// Names are truncated to this length, because the distance takes quadratic time.
constexpr size_t kMaxCompared = 128;
constexpr size_t kMaxListed = 8;

size_t bounded_distance(std::string_view a, std::string_view b) {
  return edit_distance(a.substr(0, kMaxCompared), b.substr(0, kMaxCompared));
}

// The largest edit distance of a similar name.
size_t most_distance(std::string_view given) { return std::max<size_t>(1, given.size() / 3); }

}  // namespace

bool are_similar(std::string_view given, std::string_view known) {
  return bounded_distance(given, known) <= most_distance(given);
}

std::string name_suggestion(std::string_view given, const std::vector<std::string>& known) {
  size_t best_distance = most_distance(given) + 1;
  std::string_view best;
  for (std::string_view name : known) {
    const size_t distance = bounded_distance(given, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  if (!best.empty()) return "; did you mean \"" + std::string(best) + "\"?";
  if (known.empty() || known.size() > kMaxListed) return "";
  std::string list = known.size() == 1 ? "; there is" : "; there are";
  for (size_t i = 0; i < known.size(); ++i) list += (i == 0 ? " \"" : ", \"") + known[i] + "\"";
  return list;
}

Result<size_t> find_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& known) {
  const auto found = std::ranges::find(known, name);
  if (found != known.end()) return static_cast<size_t>(found - known.begin());
  return Status(StatusCode::kNotFound, "the module has no " + std::string(kind) + " \"" +
                                           std::string(name) + "\"" + name_suggestion(name, known));
}

}  // namespace scopevm::runtime
