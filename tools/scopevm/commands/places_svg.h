// The placed graph as a picture.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// An SVG: a box for each kernel, coloured by its place, an arrow for each value that one hands
// another, and copies as boxes of their own.
std::string places_svg(const CopyExplanation& explanation);

}  // namespace scopevm::tool
