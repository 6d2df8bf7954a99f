"""Certificates for tests, made by the program openssl."""

import pathlib
import shutil
import subprocess
import sys


class Authority:
    """Issues certificates into a folder."""

    def __init__(self, folder, name):
        if shutil.which("openssl") is None:
            print("not run: no openssl")
            sys.exit(77)
        self.folder = pathlib.Path(folder)
        self.key, self.certificate = self.folder / f"{name}.key", self.folder / f"{name}.crt"
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc",
            "-subj", f"/CN={name}", "-days", "30", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name):
        """The files of a certificate for 127.0.0.1 and of its key."""
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        request, names = self.folder / f"{name}.csr", self.folder / f"{name}.names"
        names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj",
            f"/CN={name}", "-keyout", key, "-out", request)
        run("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
            "-CAcreateserial", "-days", "30", "-extfile", names, "-out", certificate)
        return certificate, key


def run(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
