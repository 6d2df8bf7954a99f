// A precompiled header needs a source file; see test_headers.h.
