# The pages are true: the README contains hello.c verbatim, and the commands in console blocks print the output shown.
readme=$TESTS/../README.md
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" | diff "$TESTS/../examples/hello.c" -
[[ $(wc -l <"$readme") -le 120 ]] || { echo "README.md has more than 120 lines" && exit 1; }

for part in cholmod jansson; do
    "$SVMP" --version | grep -q "^$part: yes" || { echo "skipped: the commands of the pages need $part" && exit 77; }
done
command -v python3 >/dev/null || { echo "skipped: python3 is not here" && exit 77; }
mapfile -t pages < <(grep -l '^```console$' "$readme" "$TESTS"/../docs/*.md)
[[ ${#pages[@]} -ge 5 ]] || { echo "console blocks are in ${pages[*]} alone" && exit 1; }
"$TESTS/../scripts/console_blocks" "${pages[@]}"
