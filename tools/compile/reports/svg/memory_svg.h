// Draws memory plans as SVG.
#pragma once

#include <string>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Returns an SVG document with one diagram per arena: the steps from left to right, the addresses
// upwards, and a rectangle per buffer. The peak and the lower bound are marked.
std::string memory_svg(const MemoryExplanation& explanation);

}  // namespace scopevm::tool
