#!/usr/bin/env bash
# Checks the relative links of all Markdown files, and the paths of the project's files in Markdown
# (`compiler/machine/machine.h`) and in comments of sources. Exits with 1 if a file does not exist.
set -euo pipefail
cd "$(dirname "$0")/.."

broken=0
report() {
  echo "$1:$2: broken link: $3"
  broken=$((broken + 1))
}

while IFS=: read -r file line link; do
  target=${link#](}
  target=${target%)}
  target=${target%%#*}  # the name of a heading
  if [[ $target != *:* && -n $target && ! -e $(dirname "$file")/$target ]]; then
    report "$file" "$line" "$target"
  fi
done < <(git ls-files -co --exclude-standard -- '*.md' | xargs -r grep -noE '\]\([A-Za-z0-9_./#:?=&%~+-]+\)' /dev/null)

# Paths with braces, `graph/scalar.{h,cpp}`, name several files. Decision records name the files of
# their time, and the pages docs/adding-* the files to add.
readonly kPath='(bench|cmake|compiler|docs|include|plugins|runtime|tests|tools|vm)/[a-z0-9_/.{},-]+'
while IFS=: read -r file line path; do
  for target in $(eval "echo $path"); do
    [[ -e $target ]] || report "$file" "$line" "$target"
  done
done < <(
  git ls-files -co --exclude-standard -- \
      '*.md' ':!docs/decisions' ':!docs/adding-*' ':!CHANGELOG.md' |
    xargs -r grep -noP "(?<=\`)$kPath(?=\`)" /dev/null
  git ls-files -co --exclude-standard -- '*.cpp' '*.h' '*.td' '*.def' '*.txt' '*.sh' |
    xargs -r grep -noP "(//|#) (.*[ (])?\K$kPath\.(h|cpp|td|def|md|{h,cpp})\b" /dev/null)

((broken == 0)) || { echo "check_links: $broken broken links"; exit 1; }
