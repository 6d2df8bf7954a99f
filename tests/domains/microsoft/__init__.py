"""Cases of the domain com.microsoft."""
from . import activations, attention, block_quantised, contractions, mixture, normalisations
from . import qlinear, recurrent, rotary
