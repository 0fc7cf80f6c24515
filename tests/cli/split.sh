# One file per chain, and several files as the chains of one sample.
. "$TESTS/cli/support.bash"
nuts=(run chain.mtx b.mtx -m nuts --warmup 100 --draws 50 -q --seed 7)
works "${nuts[@]}" --chains 4 -o h.csv
works "${nuts[@]}" --chains 4 -o h.csv --split --force
[[ $(ls h_*.csv | wc -l) -eq 4 ]]

# The summary of the files equals that of the single file.
works summary h.csv
mv said one
works summary h_*.csv
diff one said
works summary h_1.csv h_3.csv
shows '^2 chains of 50 draws of 3 variables'
if "$SVMP" report --help >said 2>&1 && "$SVMP" report h.csv -o one.html >said 2>errors; then
    works report h_*.csv chain.mtx b.mtx -o page.html
    shows '3 variables'
    grep -q '"chains":4' page.html || fail "the page is not of 4 chains"
fi

# The hint of a run names all files and works.
printf '%%%%MatrixMarket matrix coordinate real symmetric\n50 50 50\n' >wide.mtx
for i in {1..50}; do echo "$i $i 1"; done >>wide.mtx
works run wide.mtx -m nuts --chains 2 --warmup 50 --draws 20 -q --split -o w.csv
shows '^40 more variables: svmp summary w_\*\.csv \[--variables NAME,...\]$'
works $(sed -n "s/.*: svmp \(summary w_[^ ]*\).*/\1/p" said | sed "s/\*/1/") w_2.csv
shows '^2 chains of 20 draws of 50 variables'

# Files of an earlier run with more chains could be mistaken for chains of this one.
refuses 2 "The file 'h_1.csv' already exists; use --force to overwrite it." "${nuts[@]}" --chains 2 -o h.csv --split
rm h_1.csv h_2.csv
refuses 2 "The file 'h_3.csv' is left over from a run with more chains; use --force to remove it." "${nuts[@]}" --chains 2 -o h.csv --split
echo mine >h_5.csv # not a chain
"$SVMP" "${nuts[@]}" --chains 2 -o h.csv --split --force >said 2>errors || fail "$(cat errors)"
[[ $(cat errors) == "svmp: Removed 'h_3.csv', left over from a run with more chains.
svmp: Removed 'h_4.csv', left over from a run with more chains." ]] || fail "$(cat errors)"
[[ $(echo h_*.csv) == "h_1.csv h_2.csv h_5.csv" ]] || fail "$(echo h_*.csv)"

# Files that are not chains are refused; chains of other runs are reported.
works run chain.mtx b.mtx -n 50 -t 10 -q -o particles.csv
refuses 2 "Several files must be the chains of one sampler, but 'particles.csv' contains particles." summary h_1.csv particles.csv
works "${nuts[@]:0:7}" --draws 40 --chains 1 -o short.csv
refuses 2 "The chains differ in length: 50 draws in 'h_1.csv', but 40 in 'short.csv'." summary h_1.csv short.csv
refuses 2 "The variables differ" summary h_1.csv <(sed 's/x\.3/y/' h_2.csv)
works "${nuts[@]:0:11}" 8 --chains 2 --split -o other.csv
works summary h_1.csv other_2.csv # another seed
works run chain.mtx b.mtx -m nuts --warmup 60 --draws 50 -q --seed 9 --chains 2 --split -o warm.csv
"$SVMP" summary h_1.csv warm_2.csv >said 2>errors
grep -qx "svmp: warning: 'h_1.csv' and 'warm_2.csv' are from different runs: 'warmup = 100' and 'warmup = 60'\." errors || fail "$(cat errors)"
shows '^2 chains of 50 draws'

# A chain given twice is detected: runs with one seed, a copy, a file and a part of it.
same="contain the same draws. Run each chain with a seed of its own (--seed)."
for k in 1 2; do works "${nuts[@]:0:10}" --chains 1 -o one_$k.csv; done
refuses 2 "'one_1.csv' and 'one_2.csv' $same" summary one_1.csv one_2.csv
refuses 2 "'h_1.csv' and 'h_1.csv' $same" summary h_1.csv h_1.csv
refuses 2 "'h_1.csv' and 'h_1.csv' $same" report h_1.csv h_2.csv h_1.csv -o twice.html
if "$SVMP" --version | grep -q '^netcdf: yes'; then
    works "${nuts[@]}" --chains 2 -o whole.nc
    refuses 2 "'whole.nc' and 'h_2.csv' $same" summary whole.nc h_2.csv
fi

# --force removes only the files that it names: no chains of other runs, none after a gap, and not the start itself.
mkdir forced && cd forced && cp ../chain.mtx ../b.mtx .
works "${nuts[@]}" --chains 5 -o h.csv --split
rm h_3.csv
printf '# stan_version_major = 2\n# id = 6\nlp__,x\n1,2\n' >h_6.csv
"$SVMP" "${nuts[@]}" --chains 2 -o h.csv --split --force --init h_4.csv >said 2>errors || fail "$(cat errors)"
[[ $(echo h_*.csv) == "h_1.csv h_2.csv h_4.csv h_6.csv" ]] || fail "$(echo h_*.csv)"
