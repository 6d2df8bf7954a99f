# Completion of scopevm-opt for bash. The options are those that --help-hidden prints.
_scopevm_opt() {
  COMPREPLY=()
  [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || return
  mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help-hidden 2>/dev/null |
    grep -oE '^ +--?[A-Za-z0-9][A-Za-z0-9_-]*')" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _scopevm_opt scopevm-opt
