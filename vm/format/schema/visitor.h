// Visitors of the records of a module. vm/format/schema/records.h names each member of a record
// once; the binary writer and reader, the printer and parser of assembly, the reader of machine
// descriptions and the JSON of `scopevm inspect` are visitors.
//
// The name of a member is that of its field in module.fbs and in JSON. A visitor has
//
//   bare(name, x)                       assembly: the value
//   named(name, x, word = name)         assembly: the word and the value
//   optional(name, x, usual = {}, word = name)   assembly: omitted if x equals `usual`. An
//                                       enumerator has no word, and `true` is the word alone.
//   limited(name, x, range, usual = {}) optional; valid if x is `usual` or in the range
//   slot(name, x, word = "")            assembly: the word, if any, and the slot: s12
//   optional_slots(name, x)             assembly: [s12, s13]; omitted if empty
//   part(name, record)                  assembly: the name and the members; omitted without a value
//   size(name, data)                    the size of data that is stored outside of the tables
//   list(name, records, word)           assembly: one declaration for each record, which starts
//                                       with the word; without a word, the list has its own syntax
//
// The order of the calls is that of assembly. Values are numbers, strings, isa::Int, DType,
// enumerators with Enumerators<>, ExternalTensor, and vectors of them.
#pragma once

#include <concepts>
#include <type_traits>

namespace scopevm::format {

// The record that a visitor changes or, if it is const, reads.
template <typename T, typename Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

template <typename Number>
struct Range {
  Number least;
  Number most;
};

// A visitor of the lists of a record: ignores all other members.
class ListVisitor {
 public:
  void bare(auto&&...) {}
  void named(auto&&...) {}
  void optional(auto&&...) {}
  void size(auto&&...) {}
};

}  // namespace scopevm::format
