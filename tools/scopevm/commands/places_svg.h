// Draws the placed graph as SVG.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Returns an SVG document: a box for each kernel, coloured by its place, a box for each copy, and
// an arrow for each value from its producer to a consumer.
std::string places_svg(const CopyExplanation& explanation);

}  // namespace scopevm::tool
