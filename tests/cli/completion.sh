# Completion for bash and zsh, generated from the same tables as the help.
. "$TESTS/cli/support.bash"

works completion bash
cp said svmp.bash
bash -n svmp.bash

# completes LINE: the words that bash offers for the last word, separated by blanks. Bash takes = and : for words.
completes() {
    bash -c 'source ./svmp.bash; line=${1//=/ = }; read -ra COMP_WORDS <<<"${line//:/ : }"
        [[ $1 == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _svmp; echo "${COMPREPLY[*]}"' - "$1"
}
offers() { [[ $(completes "$1") == "$2" ]] || fail "'$1' offers '$(completes "$1")', not '$2'"; }
offers "svmp ru" "run"
offers "svmp --v" "--version"
offers "svmp run --meth" "--method"
offers "svmp run --check" "--checkpoint --checkpoint-every"
offers "svmp run chain.mtx -m la" "langevin"
offers "svmp run --backend cpu-a" "cpu-avx2 cpu-avx512"
offers "svmp run --method " "auto transport graphical vanilla independent random combined langevin mala nuts exact local dpmp tpmp"
offers "svmp run --progress j" "json"
offers "svmp run --method=nu" "nuts"
offers "svmp run --progress=" "auto json none"
offers "svmp run --output=cha" "chain.mtx"
offers "svmp help ru" "run"
offers "svmp run cha" "chain.mtx"
offers "svmp run chain.mtx -o b.m" "b.mtx"
offers "svmp run --seed " ""
offers "svmp run --init n" "normal:"
offers "svmp run --init " "normal: uniform: prior gaussian gaussian: map $(compgen -f | xargs)"
offers "svmp run --init cha" "chain.mtx"
offers "svmp run --init normal:" ""
offers "svmp run --step a" "adagrad: adam: adam-sd:"
offers "svmp run --bandwidth median-" "median-log median-zeros"
for word in $(completes "svmp run --step "); do "$SVMP" run --help | grep -q "${word%:}" || fail "no rule $word"; done
offers "svmp graph --format " "dot json"
offers "svmp completion " "bash zsh"
for option in $("$SVMP" run --help | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    [[ " $(completes "svmp run $option") " == *" $option "* ]] || fail "$option is not offered"
done

# The line that results from typing keys, including Tab, in an interactive bash on its own terminal.
if command -v script >/dev/null; then
    mkdir folder && touch 'a file.csv'
    cat >typed <<'END'
source ./svmp.bash; svmp() { printf '{%s}' "$@"; echo; }
END
    printf '%b\n' 'svmp run --init nor\t1 b' 'svmp run --init=uni\t0,1' 'svmp run --method=nu\tc' 'svmp run a\td' \
        'svmp run -o fol\te' 'svmp help comple\tf' exit >>typed
    timeout 60 script -qec 'TERM=dumb bash --norc --noprofile -i' /dev/null <typed >output
    tr -d '\r' <output | grep -o '{[a-z].*}' >typed_lines
    diff - typed_lines <<'END' || fail "bash: $(cat output)"
{run}{--init}{normal:1}{b}
{run}{--init=uniform:0,1}
{run}{--method=nuts}{c}
{run}{a file.csv}{d}
{run}{-o}{folder/e}
{help}{completion}{f}
END
    ! grep -qF '\:' output || fail "bash: a colon is escaped: $(cat output)"
else
    echo "script, which has terminals, is not installed"
fi

works completion zsh
cp said _svmp
[[ $(head -1 _svmp) == "#compdef svmp" ]]
for option in method checkpoint-every resume; do grep -qF -- "--$option" _svmp || fail "zsh: no --$option"; done

refuses 2 "Unknown shell 'fish'; completion is available for bash and zsh." completion fish

# The words that zsh offers: the line and a Tab are typed into a zsh on its own terminal (zpty).
if ! command -v zsh >/dev/null; then echo "the part for zsh is skipped: zsh is not installed" && exit 77; fi
zsh -n _svmp
cat >offer.zsh <<'END'
zmodload zsh/zpty || exit 1
zpty shell 'TERM=vt100 zsh -f -i'
wait_for() { # wait at most ten seconds for this output
    local output= piece
    for k in {1..200}; do
        while zpty -r -t shell piece; do output+=$piece; done
        REPLY=${output//$'\0'/}
        [[ $REPLY == *$~1* ]] && return
        sleep 0.05
    done
    print -r -- "zsh says '${(V)REPLY}'" && exit 1
}
zpty -w shell "stty cols 200; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -d $PWD/zcompdump
zstyle ':completion:*' verbose no; LISTMAX=1000; setopt no_beep list_packed; bindkey '^I' list-choices; PS1=REA''DY"
wait_for READY
zpty -w -n shell "$1"$'\t'
wait_for $'\e\\[J*\e\\[A' # the list of matches, then the cursor moves up to the line
zpty -d shell
REPLY=${REPLY##*$'\e[J'}
print -r -- ${=${REPLY%%$'\e'*}}
END
zsh_offers() {
    local got
    got=$(timeout 60 zsh -f offer.zsh "$1") || fail "'$1': $got"
    [[ $got == "$2" ]] || fail "zsh: '$1' offers '$got', not '$2'"
}
zsh_offers "svmp ru" "run"
zsh_offers "svmp run --meth" "--method"
zsh_offers "svmp run --check" "--checkpoint --checkpoint-every"
zsh_offers "svmp run chain.mtx -m la" "langevin"
zsh_offers "svmp run --progress " "auto json none"
zsh_offers "svmp run --method=nu" "nuts"
zsh_offers "svmp help ru" "run"
zsh_offers "svmp run cha" "chain.mtx"
zsh_offers "svmp run --step a" "adagrad: adam-sd: adam:"
zsh_offers "svmp run --init u" "uniform:"
zsh_offers "svmp graph --format " "dot json"
zsh_offers "svmp completion " "bash zsh"
