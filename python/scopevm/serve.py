"""The server of the installation, docs/serve.md:

    python3 -m scopevm.serve DIR [OPTION...]

The arguments are those of `scopevm serve`.
"""

import os
import pathlib
import shutil
import sys

from . import _native

_COMMAND = "scopevm"


def _find_command():
    """The command of the installation of libscopevm, or else one in PATH; None: there is none."""
    if library := _native._library_path():
        # The prefix has lib/libscopevm.so or lib/ARCHITECTURE/libscopevm.so.
        for folder in list(pathlib.Path(library).resolve().parents)[1:3]:
            if found := shutil.which(_COMMAND, path=str(folder / "bin")):
                return found
    return shutil.which(_COMMAND)


def main():
    """Replaces this process by the server, which gets its signals and has its exit code."""
    command = _find_command()
    if command is None:
        sys.exit("scopevm.serve: the command scopevm was not found next to libscopevm or in PATH. "
                 "Install the components `command` and `serve` of scopevm.")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command, [_COMMAND, "serve", *sys.argv[1:]])


if __name__ == "__main__":
    main()
