// Ops that read or create strings. The VM executes all of them except count_ngrams. Ops of other
// families only move strings or compare them for equality.
#ifndef SCOPEVM_GRAPH_STRING_OPS
#define SCOPEVM_GRAPH_STRING_OPS

include "compiler/graph/op_classes.td"

def StringToNumberOp : Graph_Op<"string_to_number", "the numbers that strings represent, in element type `to`",
                           [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let parallel_axes = "equal_axes(*this)";
  let elements = [kString];
  let checks = kNoChecks;
}

def NumberToStringOp : Graph_Op<"number_to_string", "numbers as strings, with the fewest digits that identify the number",
                           [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let parallel_axes = "equal_axes(*this)";
  let arguments = (ins Graph_Tensor:$x);
  let checks = kNoChecks;
}

def ChangeCaseOp : Graph_Op<"change_case", "strings converted to lower or upper case",
                           [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "false">:$upper);
  let parallel_axes = "equal_axes(*this)";
  let elements = [kString];
  let checks = kNoChecks;
}

// The shapes are equal.
def ConcatStringsOp : Graph_Op<"concat_strings", "each string of a, followed by that of b",
                               [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
  let parallel_axes = "equal_axes(*this)";
  let elements = [kString];
  let checks = kNoChecks;
}

// The next two ops split each string at the delimiter, which has rank 0. If the delimiter is the
// empty string, runs of whitespace separate the pieces, which are then never empty. A string is
// split at most max_splits times, without a limit if max_splits is negative. The last piece is the
// rest of the string.
def CountPiecesOp : Graph_Op<"count_pieces", "number of pieces between delimiters in each string",
                             [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$delimiter,
                       DefaultValuedAttr<I64Attr, "-1">:$max_splits);
  let parallel_axes = "leading_axes(*this, tensor_type(getX()).getRank())";
  let elements = [kString];
  let checks = kNoChecks;
}

// The attribute count has one dim: the last of the result. Pieces from this index on are ignored.
def SplitStringsOp : Graph_Op<"split_strings", "str[..., count]: pieces between delimiters, then empty strings",
                              [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$delimiter, Graph_Dims:$count,
                       DefaultValuedAttr<I64Attr, "-1">:$max_splits);
  let parallel_axes = "leading_axes(*this, tensor_type(getX()).getRank())";
  let elements = [kString];
  let checks = kNoChecks;
}

// The automaton reads the bytes of a string. It is i32 of rank 1: 256 elements with the column of
// each byte, the number of columns, then a row for each state, of which the first is initial.
// Column 0 of a row is 1 if a string may end in the state, otherwise 0. The other columns contain
// the next state, or -1 if there is none.
def MatchStringsOp : Graph_Op<"match_strings", "whether the automaton accepts each string",
                              [Graph_HostOp]> {
  let declarations = HostReason<"strings are stored on the host">.member;
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$automaton);
  let parallel_axes = "leading_axes(*this, tensor_type(getX()).getRank())";
  let elements = [kString, kInteger];
  let checks = kNoChecks;
}

// x is [n, c], integers or strings. pool has rank 1 and contains the n-grams one after the other;
// those of length i + 1 start at element starts[i]. Each occurrence of n-gram k in a row adds
// weights[k] (default 1) to column columns[k]. If `once`, only the first occurrence counts. N-grams
// shorter than min_length or longer than max_length are ignored. The elements of an occurrence are
// equally spaced, at a distance of at most skips + 1.
def CountNgramsOp : Graph_Op<"count_ngrams", "f32[n, columns]: number of occurrences of each n-gram in each row"> {
  let arguments = (ins Graph_Tensor:$x, ElementsAttr:$pool, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$columns, DenseF32ArrayAttr:$weights, I64Attr:$min_length,
                       I64Attr:$max_length, DefaultValuedAttr<I64Attr, "0">:$skips,
                       DefaultValuedAttr<BoolAttr, "false">:$once);
  let parallel_axes = "leading_axes(*this, 1)";
  let elements = [kAny];
  let checks = kNoChecks;
}

#endif
