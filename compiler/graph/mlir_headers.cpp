// A precompiled header needs a source file; see mlir_headers.h.
