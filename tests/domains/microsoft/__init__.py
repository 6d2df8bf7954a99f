"""Cases of the domain com.microsoft."""
# Random graphs of tests/operator_graphs depend on the order of the operators.
from . import activations, contractions, rotary, attention, group_query, block_quantised, mixture
from . import normalisations, qlinear, recurrent
