// Ops that read or make strings. The VM runs all but count_ngrams itself; other ops only move strings.
#ifndef SCOPEVM_GRAPH_STRING_OPS
#define SCOPEVM_GRAPH_STRING_OPS

include "compiler/graph/op_classes.td"

def ParseTextOp : Graph_Op<"parse_text", "the numbers that texts spell, in element type `to`",
                           [Graph_HostOp]> {
  let declarations = HostReason<"texts are the host\'s">.member;
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let strings = kAllStrings;
  let checks = kNoChecks;
}

def FormatTextOp : Graph_Op<"format_text", "numbers as texts, with the fewest digits that tell them apart",
                           [Graph_HostOp]> {
  let declarations = HostReason<"texts are the host\'s">.member;
  let arguments = (ins Graph_Tensor:$x);
  let checks = kNoChecks;
}

def ChangeCaseOp : Graph_Op<"change_case", "texts in lower case, or upper",
                           [Graph_HostOp]> {
  let declarations = HostReason<"texts are the host\'s">.member;
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "false">:$upper);
  let strings = kAllStrings;
  let checks = kNoChecks;
}

// x: [n, c] of integers or texts. pool, rank 1: n-grams one after the other, those of length i + 1 from element
// starts[i] on; n-gram k of the pool adds weights[k] (without weights: 1) to column columns[k] each
// time that a row has it, or `once` when the row has it at all. Only lengths min_length..max_length
// count. The elements of an n-gram lie apart by one distance, at most skips + 1.
def CountNgramsOp : Graph_Op<"count_ngrams", "f32[n, columns]: how often each row has each n-gram"> {
  let arguments = (ins Graph_Tensor:$x, ElementsAttr:$pool, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$columns, DenseF32ArrayAttr:$weights, I64Attr:$min_length,
                       I64Attr:$max_length, DefaultValuedAttr<I64Attr, "0">:$skips,
                       DefaultValuedAttr<BoolAttr, "false">:$once);
  let strings = kAllStrings;
  let checks = kNoChecks;
}

#endif
