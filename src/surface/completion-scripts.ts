// How does each shell ask what could come next? A few lines that call `holdfast complete`; they need no renewal.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Lines that `holdfast complete` prints in place of names: the shell knows its files best. */
export const FILES = ":files";
export const DIRECTORIES = ":directories";

const BASH = String.raw`# Completions of holdfast for bash; in ~/.bashrc: source <(holdfast completions bash)
_holdfast() {
  local line kind= current=${"$"}{COMP_WORDS[COMP_CWORD]} IFS=$'\n'
  [[ $current == = ]] && current=
  COMPREPLY=()
  while read -r line; do
    case $line in
      ${FILES}) kind=-f ;;
      ${DIRECTORIES}) kind=-d ;;
      ?*) COMPREPLY+=("${"$"}{line%%$'\t'*}") ;;
    esac
  done < <("${"$"}{1/#\~/$HOME}" complete -- "${"$"}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ -z $kind ]] && return
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen $kind -- "$current"))
}
complete -F _holdfast holdfast
`;

const ZSH = String.raw`#compdef holdfast
# Completions of holdfast for zsh; in ~/.zshrc, behind compinit: source <(holdfast completions zsh)
_holdfast() {
  local line value
  local -a found
  for line in "${"$"}{(@f)$(${"$"}{~words[1]} complete -- "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    value=${"$"}{${"$"}{line%%$'\t'*}//:/\\:}
    case $line in
      "") ;;
      ${FILES}) compset -P '--*='; _files ;;
      ${DIRECTORIES}) compset -P '--*='; _files -/ ;;
      *$'\t'*) found+=("$value:${"$"}{line#*$'\t'}") ;;
      *) found+=("$value") ;;
    esac
  done
  (( $#found )) && _describe -V holdfast found
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;

const FISH = `# Completions of holdfast for fish; in ~/.config/fish/config.fish: holdfast completions fish | source
function __holdfast_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r '^--[^=]*=' -- "$current")
    set -l path (string replace -r '^--[^=]*=' '' -- "$current")
    for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ${FILES}
                for each in (__fish_complete_path "$path"); echo "$flag$each"; end
            case ${DIRECTORIES}
                for each in (__fish_complete_directories "$path"); echo "$flag$each"; end
            case '*'
                echo $line
        end
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export const completionScript = (shell: Shell): string => SCRIPTS[shell];
