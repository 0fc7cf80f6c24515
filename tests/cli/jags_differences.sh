# For every row of the tables in docs/jags.md: the model in the first column gives the output in the second.
. "$TESTS/cli/support.bash"
page=$TESTS/../docs/jags.md
rows=0
while IFS= read -r row; do
    model=${row#'| `'}
    model=${model%%'` |'*}
    sentence=${row##*' | '}
    sentence=${sentence#*'`'}
    sentence=${sentence%'`'*}
    printf '%s\n' "$model" >row.bug
    "$SVMP" check row.bug >said 2>&1 || true
    grep -qF -- "$sentence" said || fail "$model: '$(cat said)' instead of '$sentence'"
    rows=$((rows + 1))
done < <(grep '^| `data {' "$page")
[[ $rows -ge 20 ]] || fail "$rows rows"
