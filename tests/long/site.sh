# The site is built from docs/, the headers and the tables: no link is dead, and search finds every index.
. "$TESTS/cli/support.bash"
command -v python3 >/dev/null || { echo "skipped: python3 is not here" && exit 77; }
site=$TESTS/../build/site
"$TESTS/../scripts/site" | tee said
if ! grep -q '^written to' said; then
    echo "skipped, for it is not here: MkDocs" && exit 77
fi
for page in overview tutorial index-functions index-options index-distributions index-messages from-gtsam; do
    [[ -s $site/html/$page.html ]] || fail "there is no page $page.html"
done
for word in svmp_model_read require-converged ddirch SVMP_NOTE_R_HAT; do
    grep -q "$word" "$site/html/search/search_index.json" || fail "search does not know $word"
done
