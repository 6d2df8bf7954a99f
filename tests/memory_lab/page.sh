#!/usr/bin/env bash
# Opens a page in headless Chromium, presses keys, and checks what it shows.
#   page.sh BIN_FOLDER    Exit code 77: Chromium is not installed
set -euo pipefail
chromium=$(command -v chromium) || exit 77
folder=$(cd "$(dirname "$0")" && pwd)
export PATH="$1:$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

scopevm alloc record -o "$scratch/trace.mt" --stack-depth 4 -- recorded_program mark threads \
  >/dev/null 2>&1
scopevm alloc plot "$scratch/trace.mt" -o "$scratch/page.html"

# Selects the largest block, zooms in, and opens the first call stack, each with the keyboard.
cat >"$scratch/keys.html" <<'END'
<script>
const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
const blocks = document.getElementById("blocks");
blocks.focus();
key(blocks, "n");
key(blocks, "+");
document.body.dataset.zoomed = view.right - view.left < whole.right - whole.left;
document.body.dataset.focused = document.activeElement === blocks;
const boxes = document.querySelectorAll("#flame button");
document.body.dataset.boxes = boxes.length > 1;
boxes[1].click();
document.body.dataset.opened = document.querySelector("#flame button").textContent === boxes[1].textContent;
key(document.getElementById("flame"), "Escape");
document.body.dataset.closed = document.querySelector("#flame button").textContent;
document.getElementById("theme").click();
</script>
END
cat "$scratch/page.html" "$scratch/keys.html" >"$scratch/pressed.html"
timeout 300 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
  --dump-dom "file://$scratch/pressed.html" >"$scratch/dom.html" 2>"$scratch/errors"

expect() { grep -qF -- "$1" "$scratch/dom.html" || { echo "missing on the page: $1"; exit 1; }; }
peak=$("$folder/read_trace.py" "$scratch/trace.mt" | sed -nE 's/^peak ([0-9]+) .*/\1/p')
count=$("$folder/read_trace.py" "$scratch/trace.mt" | sed -nE 's/^allocations ([0-9]+) .*/\1/p')
expect "<span id=\"peak-bytes\">$peak bytes ("
expect "<dd id=\"allocations\">$count</dd>"
expect "heap: peak $peak bytes"
for check in zoomed focused boxes opened; do expect "data-$check=\"true\""; done
expect 'data-closed="all blocks at the peak"'
expect 'data-theme='
grep -qE 'id="status"[^>]*>[0-9.]+ (B|KiB|MiB) \([0-9]+ bytes\), heap, 0x' "$scratch/dom.html" ||
  { echo "the selected block is not described"; exit 1; }
