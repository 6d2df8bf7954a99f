// The data of the page, as JSON: a history reduced to a size that a browser shows at once.
#pragma once

#include <string>

#include "tools/lab/plot/history.h"

namespace scopevm::lab {

// Members of the object, which page.js reads:
//   title, unit ("ns" or "step"), gap, begin, end, allocations
//   peak      {bytes, time, blocks}
//   scopes    [{name, peak}]
//   samples   for each scope: live bytes in equal intervals of time
//   regions   [[address, bytes, position]]: the used ranges of addresses. A large unused range
//             between two of them is not shown; `position` is the place on the axis, in bytes
//   height    the length of the axis of addresses, in bytes
//   names     call sites
//   blocks    [[begin, end, position, size, scope, index of the name]]: the largest spans
//   density   {columns, rows, cells}: the part of each cell that other spans fill, from 0 to 255
//   flame     {name, bytes, blocks, children}: call stacks of the blocks that are live at the peak
std::string page_data(const History& history);

}  // namespace scopevm::lab
