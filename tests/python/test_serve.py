"""The server that `python3 -m scopevm.serve` starts."""

import os
import pathlib
import signal
import subprocess
import sys
import urllib.request

import pytest

import scopevm
from scopevm import serve

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (serve._find_command() and pathlib.Path(
    serve._find_command()).with_name("scopevm-serve").exists()), reason="a build without a server")


def start(*arguments):
    return subprocess.Popen([sys.executable, "-m", "scopevm.serve", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_arguments_and_signals(tmp_path):
    scopevm.compile(ROOT / "examples/distance/distance.mlir", tmp_path / "distance.bc")
    server = start(tmp_path, "--http", "127.0.0.1:0", "--grpc", "none", "--metrics", "none")
    try:
        lines = [server.stdout.readline().strip() for _ in range(2)]
        assert lines[1] == "ready"
        with urllib.request.urlopen(f"http://{lines[0].split()[1]}/v2/models/distance") as answer:
            assert b'"distance"' in answer.read()
        # The process is the server itself.
        assert "scopevm-serve" in os.readlink(f"/proc/{server.pid}/exe")
        server.send_signal(signal.SIGTERM)
        output, _ = server.communicate(timeout=60)
        assert (server.returncode, output) == (0, "draining\n")
    finally:
        server.kill()
        server.communicate()


def test_exit_code_and_messages(tmp_path):
    server = start(tmp_path / "none", "--check")
    output, errors = server.communicate(timeout=60)
    expected = subprocess.run([serve._find_command(), "serve", tmp_path / "none", "--check"],
                              capture_output=True, text=True, check=False)
    assert server.returncode == expected.returncode != 0
    assert (output, errors) == (expected.stdout, expected.stderr)


def test_no_command(monkeypatch):
    monkeypatch.setattr(serve._native, "_library_path", lambda: None)
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(SystemExit, match="the command scopevm was not found"):
        serve.main()
