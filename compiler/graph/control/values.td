// The types of values that branches, loops, functions and closures take and return.
#ifndef SCOPEVM_GRAPH_CONTROL_VALUES
#define SCOPEVM_GRAPH_CONTROL_VALUES

include "compiler/graph/op_classes.td"

class Graph_TupleOf<list<Type> elements, string description>
    : Type<NestedTupleOf<elements>.predicate, description, "::mlir::TupleType">;

def Graph_ListElement : AnyTypeOf<[Graph_Tensor, Graph_List]>;
def Graph_TensorTuple : Graph_TupleOf<[Graph_Tensor], "tuple of tensors">;
def Graph_Tuple : Graph_TupleOf<[Graph_Tensor, Graph_List, Graph_Closure],
                                "tuple of tensors, lists and closures">;
def Graph_Captured : AnyTypeOf<[Graph_Tensor, Graph_TensorTuple]>;
def Graph_Value : AnyTypeOf<[Graph_Tensor, Graph_List, Graph_Closure, Graph_Tuple]>;

#endif
