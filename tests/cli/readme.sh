# The README is true: it contains hello.c verbatim, and its commands print the output shown.
readme=$TESTS/../README.md
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" | diff "$TESTS/../examples/hello.c" -

"$SVMP" --version | grep -q '^cholmod: yes' || { echo "skipped: the README's commands need CHOLMOD" && exit 77; }
ln -s "$MODELS" models
svmp() { command "$SVMP" "$@"; }

# said.txt is the output in the README, did.txt that of the same commands now; times are not compared.
awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$readme" >said.txt
grep '^\$ ' said.txt >commands.txt
while read -r prompt command; do
    echo "$prompt $command"
    eval "$command" 2>/dev/null
done <commands.txt >did.txt

# Word by word. Numbers may differ by a thousandth, since another C library may round exp differently; lines with
# results of NUTS, whose trajectories magnify such differences, are compared by their first word only.
time='s/in [0-9.]* s,/in a time,/'
paste -d '\n' <(sed "$time" said.txt) <(sed "$time" did.txt) | awk '
    NR % 2 == 1 { said = $0; if (/^\$ /) chaotic = /nuts/; next }
    {
        same = split(said, a) == split($0, b)
        if (chaotic) same = a[1] == b[1]
        else for (k in a) if (a[k] != b[k]) {
            difference = a[k] - b[k]; size = a[k] < 0 ? -a[k] : a[k]
            if (a[k] !~ /^\(?[-0-9.e+]+[,.)]*$/ || difference * difference > 1e-6 * (1 + size * size)) same = 0
        }
        if (!same) { print "README: " said "\nsvmp:   " $0; wrong = 1 }
    }
    END { exit wrong || NR < 20 }'
