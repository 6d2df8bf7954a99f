"""Builds the wheel: the package, the extension module and libscopevm.

    pip wheel --no-build-isolation ./python     configures and builds libscopevm

With the variable SCOPEVM_BUILD, the files are those of a finished build, such as build/release.
SCOPEVM_SOURCE is the source tree, if this folder is not in it.
"""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = pathlib.Path(os.environ.get("SCOPEVM_SOURCE",
                                     pathlib.Path(__file__).resolve().parent.parent)).resolve()
VERSION = re.search(r"project\(scopevm VERSION ([\d.]+)",
                    (SOURCE / "CMakeLists.txt").read_text())[1]


class Build(build_ext):
    """Copies the extension module and the library of a CMake build into the package."""

    def build_extension(self, ext):
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        build = os.environ.get("SCOPEVM_BUILD")
        folder = pathlib.Path(build).resolve() if build else self.cmake_build()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "python/scopevm/_native.abi3.so", target)
        # The file with the name that the loader searches: libscopevm.so.MAJOR.MINOR.
        library = max(folder.glob("lib/libscopevm.so.*"), key=lambda path: -len(path.name))
        shutil.copy2(library.resolve(), target.parent / library.name)

    def cmake_build(self):
        folder = pathlib.Path(self.build_temp).resolve()
        options = [f"-DSCOPEVM_BUILD_{part}=OFF" for part in ("COMPILER", "TESTS", "BENCH")]
        subprocess.run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, *options,
                        "-DCMAKE_BUILD_TYPE=Release", "-DSCOPEVM_BUILD_PYTHON=ON"], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "scopevm_python"], check=True)
        return folder


setup(version=VERSION, cmdclass={"build_ext": Build},
      ext_modules=[Extension("scopevm._native", [], py_limited_api=True)],
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
