# Completion for bash and zsh, made of the same tables as the help.
. "$TESTS/cli/support.bash"

works completion bash
cp said svmp.bash
bash -n svmp.bash

# completes LINE: what bash would offer for the last word, a blank between them.
completes() {
    bash -c 'source ./svmp.bash; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _svmp; echo "${COMPREPLY[*]}"' - "$1"
}
offers() { [[ $(completes "$1") == "$2" ]] || fail "'$1' offers '$(completes "$1")', not '$2'"; }
offers "svmp ru" "run"
offers "svmp --v" "--version"
offers "svmp run --meth" "--method"
offers "svmp run --check" "--checkpoint --checkpoint-every"
offers "svmp run chain.mtx -m la" "langevin"
offers "svmp run --method " "graphical vanilla independent random combined langevin mala nuts exact dpmp tpmp"
offers "svmp run --progress j" "json"
offers "svmp run cha" "chain.mtx"
offers "svmp run chain.mtx -o b.m" "b.mtx"
offers "svmp run --seed " ""
offers "svmp graph --format " "dot json"
offers "svmp completion " "bash zsh"
for option in $("$SVMP" run --help | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    [[ " $(completes "svmp run $option") " == *" $option "* ]] || fail "$option is not offered"
done

works completion zsh
cp said _svmp
[[ $(head -1 _svmp) == "#compdef svmp" ]]
for option in method checkpoint-every resume; do grep -qF -- "--$option" _svmp || fail "zsh: no --$option"; done
if command -v zsh >/dev/null; then zsh -n _svmp; else echo "zsh is not here"; fi

refuses 2 "There is completion for bash and zsh, not for 'fish'." completion fish
