// The paths of the server and their methods. openapi.json is the only list of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scopevm::serve {

// The description of the server in OpenAPI.
extern const std::string_view kApiDescription;

class Paths {
 public:
  // Reads the description.
  Paths();

  // The methods of a path, such as "GET"; null for an unknown path. `parts` are the decoded parts
  // between the slashes of the path.
  const std::vector<std::string>* find_methods(const std::vector<std::string>& parts) const;

 private:
  struct Path {
    std::vector<std::string> parts;  // "{NAME}" matches any part
    std::vector<std::string> methods;
  };
  std::vector<Path> paths_;
};

}  // namespace scopevm::serve
