export type Shell = keyof typeof scripts;

/**
 * Each asks `torpor complete` with the words up to the cursor, the last of which may be empty; a candidate a line, with a tab and what it
 * is. Where it knows none, a file may be meant.
 */
const scripts = {
  bash: `# bash completion of torpor: torpor completion bash >/etc/bash_completion.d/torpor
_torpor() {
  local IFS=$'\\n'
  COMPREPLY=($(torpor complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _torpor torpor
`,
  zsh: `#compdef torpor
# zsh completion of torpor: torpor completion zsh >"\${fpath[1]}/_torpor"
_torpor() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(torpor complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe torpor found; else _files; fi
}
if [ "$funcstack[1]" = _torpor ]; then _torpor "$@"; else compdef _torpor torpor; fi
`,
  fish: `# fish completion of torpor: torpor completion fish >~/.config/fish/completions/torpor.fish
function __torpor_complete
  set -l found (torpor complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    string join \\n -- $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c torpor -f -a '(__torpor_complete)'
`,
} as const;

export const shells = Object.keys(scripts) as Shell[];

export function completionScript(shell: Shell): string {
  return scripts[shell];
}
