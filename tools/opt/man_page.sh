#!/usr/bin/env bash
# Prints a man page with the output of `scopevm-opt --help`, which LLVM generates from the options:
#   man_page.sh SCOPEVM_OPT VERSION
set -euo pipefail
cat <<END
.TH SCOPEVM-OPT 1 "" "scopevm $2"
.SH NAME
scopevm\-opt \- runs passes on a graph in MLIR assembly
.SH SYNOPSIS
\fBscopevm\-opt\fR [\fIOPTIONS\fR] [\fIFILE\fR]
.SH OPTIONS
.nf
END
"$1" --help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
