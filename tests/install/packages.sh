#!/usr/bin/env bash
# Installs the Debian packages of a folder in a system of their own, and uses them there:
#   packages.sh FOLDER
# Needs root, mmdebstrap and Debian's archive. lintian must report no error.
set -euo pipefail
debs=$(readlink -f "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
end() {
  mountpoint -q "$root/proc" && umount "$root/proc"
  rm -rf "$root"
}
trap end EXIT

fail() { echo "packages: $*" >&2; exit 1; }

if errors=$(lintian "$debs"/*.deb 2>/dev/null | grep '^E:'); then fail "lintian: $errors"; fi

mmdebstrap --quiet --variant=minbase bookworm "$root" >/dev/null
mount -t proc proc "$root/proc"
mkdir "$root/debs" "$root/models"
cp "$debs"/*.deb "$root/debs"
cp "$source/examples/digits/"{digits.onnx,five.npy} "$root/root"
cp "$source/examples/digits/digits.onnx" "$root/models"

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 bash -ec "cd /root; $1"; }

inside 'apt-get update -q >/dev/null; apt-get install -qy --no-install-recommends /debs/*.deb' \
  &>"$root/output" || fail "apt-get install: $(<"$root/output")"
inside 'scopevm --version; scopevm compile digits.onnx -o digits.bc' || fail "scopevm compile"
inside 'scopevm run digits.bc --input image=five.npy' | grep -q '^probability: f32\[5, 10\]' ||
  fail "scopevm run"
inside 'scopevm serve --check /models' | grep -q '^digits/1$' || fail "scopevm serve --check"
inside 'scopevm alloc record -o scopevm.mt -- scopevm --version' >/dev/null || fail "scopevm alloc"
inside 'man -w scopevm 2>/dev/null || test -f /usr/share/man/man1/scopevm.1.gz' >/dev/null ||
  fail "no man page"
if [[ -e $root/usr/lib/python3/dist-packages/scopevm ]]; then
  inside 'python3 -c "import scopevm; print(scopevm.Module.load(\"digits.bc\"))"' ||
    fail "the Python package"
fi
inside 'apt-get remove -qy "scopevm*" "libscopevm*"' >/dev/null || fail "apt-get remove"
if left=$(find "$root/usr" -name '*scopevm*' -not -path '*/share/doc/*' | grep .); then
  fail "files remain: $left"
fi
echo "packages: installed, used and removed"
