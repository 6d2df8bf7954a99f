// The precompiled header needs a source file; see the header.
