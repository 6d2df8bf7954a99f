"""A merged decoder of Optimum: the input use_cache_branch selects a graph with past keys and values
or one without."""
import numpy as np

from graph import BOOL, FLOAT, onnx_file
from primitive import Primitive


class Branch(Primitive):
    """Inputs and weights are those of the parent."""

    def __init__(self, parent, prefix):
        super().__init__(parent.sizes, parent.weights)
        self.parent, self.prefix = parent, prefix

    def input(self, name, element_type, *dims):
        return self.parent.input(name, element_type, *dims)

    def initializer(self, name, array):
        return self.parent.initializer(name, array)

    def constant(self, array):
        name = f"{self.prefix}constant_{len(self.nodes)}"
        self.nodes.append(onnx_file.node("Constant", [], [name],
                                         value=onnx_file.tensor(np.asarray(array))))
        return name

    def op(self, kind, *operands, outputs=1, into=None, **attributes):
        names = into or [f"{self.prefix}{kind}_{len(self.nodes)}_{len(operands)}_{i}"
                         for i in range(outputs)]
        return super().op(kind, *operands, into=names, **attributes)

    def output(self, name, value, *dims):
        super().output(f"{self.prefix}{name}", value, *dims)
        self.parent.branch_output(name, dims)


class FirstBranch(Branch):
    """The first step, without past keys and values."""

    def attend(self, query, key, content, layer, groups):
        for part, value in (("key", key), ("value", content)):
            self.present(layer, part, groups, value)
        mask = self.once("causal_mask", self.causal_mask)
        return self.scores(query, self.repeat_heads(key, groups),
                           self.repeat_heads(content, groups), mask)


class Merged(Primitive):
    concatenates_caches = False
    has_data_dependent_results = True  # the branches have caches of different lengths

    def write(self, network):
        branches = [Branch(self, "with_past."), FirstBranch(self, "without_past.")]
        for branch in branches:
            network(branch, self.sizes)
        graphs = [onnx_file.graph(branch.nodes, branch.prefix, [], branch.outputs)
                  for branch in branches]
        self.input("use_cache_branch", BOOL, 1)
        self.nodes.append(onnx_file.node("If", ["use_cache_branch"], self.output_names,
                                         then_branch=graphs[0], else_branch=graphs[1]))

    def branch_output(self, name, dims):
        if name not in self.output_names:
            self.output_names.append(name)
            self.outputs.append(onnx_file.value_info(name, FLOAT, dims))
