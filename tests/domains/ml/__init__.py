"""Cases of the domain ai.onnx.ml."""
from . import encoders, features, linear, svm, trees
