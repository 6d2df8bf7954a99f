// Parses --dim and --variant.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// Parses the values of all --dim options and sets the bound of each name in `bounds`. Each value is
// a comma-separated list of NAME=VALUE, NAME=LOW..HIGH, NAME<=HIGH, NAME>=LOW or NAME%FACTOR==0.
// NAME==VALUE, NAME%FACTOR and NAME%FACTOR=0 are accepted, too. Bounds of the same name are
// combined. `option` is the option's name in messages: --dim or --variant. Errors:
// kInvalidArgument, also if no value satisfies all bounds of a name.
Status add_dim_bounds(const std::vector<std::string>& strings,
                      std::map<std::string, DimBound>& bounds, const std::string& option = "--dim");

}  // namespace scopevm::tool
