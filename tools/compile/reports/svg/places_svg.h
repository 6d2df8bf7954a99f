// Draws the placed graph as SVG.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Returns an SVG document. Each input, kernel and copy is a box, coloured by its place. A line
// connects the producer of a value with each consumer. A legend names the places.
std::string places_svg(const CopyExplanation& explanation);

}  // namespace scopevm::tool
