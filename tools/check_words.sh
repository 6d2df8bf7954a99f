#!/usr/bin/env bash
# Checks the wording of the sources. Offences are:
#   leftover markers, and unspecific names of files or types
#   words of rejected_words.txt, except for the uses in allowed_words.txt
#   C++ files without an opening comment, in the file or in its header
#   documentation pages with prose wider than 100 columns
# Exits with 1 if there is an offence.
set -euo pipefail
cd "$(dirname "$0")/.."

offences=0
offend() {
  echo "$1"
  offences=$((offences + 1))
}

files() { git ls-files -co --exclude-standard -- "$@"; }

while IFS= read -r hit; do
  offend "$hit: leftover marker"
done < <(files '*.h' '*.cpp' '*.c' '*.td' '*.py' '*.mjs' '*.md' '*.txt' '*.def' '*.fbs' |
  xargs -r grep -nwE 'TODO|FIXME|X{3}|HACK' || true)

while IFS= read -r hit; do
  offend "$hit: unspecific type name"
done < <(files '*.h' '*.cpp' |
  xargs -r grep -nE '^(class|struct|enum class) [A-Za-z]*(Manager|Helper|Util|Utils|Misc|Impl2)\b' || true)

while IFS= read -r file; do
  offend "$file: unspecific file name"
done < <(files '*.h' '*.cpp' '*.py' '*.mjs' | grep -E '/[a-z_]*(manager|helper|util|utils|common|misc)\.[a-z]+$' || true)

while IFS= read -r file; do
  [[ -f $file ]] || continue
  [[ $file == *.cpp && -f ${file%.cpp}.h ]] && continue
  head -n 1 "$file" | grep -qE '^(//|/\*)' || offend "$file: missing opening comment"
done < <(files '*.h' '*.cpp')

# Tables, code blocks, lines with a link and generated pages may be wider. In the C locale, awk
# counts bytes. The continuation bytes of UTF-8 characters are removed first, so that each character
# is one column.
while IFS= read -r hit; do
  offend "$hit: longer than 100 columns"
done < <(files '*.md' ':!docs/isa.md' ':!docs/ops.md' | LC_ALL=C xargs -r awk '
  FNR == 1 { in_block = 0 }
  /^ *```/ { in_block = !in_block; next }
  in_block || /^ *\|/ || /^    / || /\]\(|https?:/ { next }
  { gsub(/[\200-\277]/, ""); if (length($0) > 100) print FILENAME ":" FNR }')

# Prints FILE:LINE: TEXT for each line of a text file that contains a word of REGEX.
lines_with() {
  git grep -nIiP --untracked "(?<![a-z])($1)(?![a-z])" -- \
    ':!LICENSE' ':!tools/rejected_words.txt' ':!tools/allowed_words.txt' || true
}

is_allowed() {
  local hit=$1 file text
  while IFS= read -r entry; do
    file=${entry%%: *} text=${entry#*: }
    [[ $hit == "$file"* && $hit == *"$text"* ]] && return
  done < <(grep -v '^#' tools/allowed_words.txt)
  return 1
}

while IFS= read -r rule; do
  while IFS= read -r hit; do
    is_allowed "$hit" || offend "$hit: rejected word; instead: ${rule##* = }"
  done < <(lines_with "${rule%% = *}")
done < <(grep -v '^#' tools/rejected_words.txt)

((offences == 0)) || { echo "check_words: $offences offences"; exit 1; }
