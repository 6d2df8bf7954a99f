// A precompiled header needs a source file; see command_headers.h.
