// Reads the description; see paths.h.
#include "tools/serve/api/paths.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace scopevm::serve {
namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream text(path.substr(1));  // after the first slash
  for (std::string part; std::getline(text, part, '/');) parts.push_back(part);
  return parts;
}

bool matches(const std::string& expected, const std::string& part) {
  return expected == part || expected.starts_with('{');
}

}  // namespace

Paths::Paths() {
  const auto description = nlohmann::json::parse(kApiDescription);
  for (const auto& [path, item] : description.at("paths").items()) {
    std::vector<std::string> methods;
    for (const auto& [name, operation] : item.items()) {
      if (!operation.contains("responses")) continue;  // the parameters of all operations
      std::string& method = methods.emplace_back(name);
      std::ranges::transform(method, method.begin(),
                             [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    }
    paths_.push_back({parts_of(path), std::move(methods)});
  }
  // A name has precedence over a parameter at its place: '{' follows the letters.
  std::ranges::sort(paths_, {}, &Path::parts);
}

const std::vector<std::string>* Paths::find_methods(const std::vector<std::string>& parts) const {
  const auto found = std::ranges::find_if(
      paths_, [&](const Path& path) { return std::ranges::equal(path.parts, parts, matches); });
  return found == paths_.end() ? nullptr : &found->methods;
}

}  // namespace scopevm::serve
