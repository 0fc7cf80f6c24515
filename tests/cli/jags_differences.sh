# Every row of the tables of docs/jags.md: the model in its first column says what stands in its second one.
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
