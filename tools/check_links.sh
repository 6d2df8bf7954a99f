#!/usr/bin/env bash
# Checks that the relative links of all Markdown files point to files or folders of the project.
# Exits with 1 if a link is broken.
set -euo pipefail
cd "$(dirname "$0")/.."

broken=0
while IFS=: read -r file line link; do
  target=${link#](}
  target=${target%)}
  target=${target%%#*}  # the name of a heading
  if [[ $target != *:* && -n $target && ! -e $(dirname "$file")/$target ]]; then
    echo "$file:$line: broken link: $target"
    broken=$((broken + 1))
  fi
done < <(git ls-files -co --exclude-standard -- '*.md' | xargs -r grep -noE '\]\([A-Za-z0-9_./#:?=&%~+-]+\)' /dev/null)

((broken == 0)) || { echo "check_links: $broken broken links"; exit 1; }
