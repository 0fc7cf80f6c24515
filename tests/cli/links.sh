# Every link among the pages leads somewhere, and every page that code or a message names exists. A dead link is found.
command -v python3 >/dev/null || { echo "skipped: python3 is not here" && exit 77; }
"$TESTS/../scripts/links"

mkdir site && cat >site/index.html <<'E2'
<html><body><h1 id="top">A page</h1><a href="#nowhere">a heading</a> <a href="other.html">a file</a></body></html>
E2
! "$TESTS/../scripts/links" site >dead || { echo "two dead links were not found" && exit 1; }
[[ $(grep -c 'there is no such' dead) -eq 2 ]] || { cat dead && exit 1; }

# The index of each folder names its pages.
for folder in docs docs/developers docs/gallery; do
    for page in "$TESTS/../$folder"/*.md; do
        name=$(basename "$page")
        [[ $name == index.md ]] || grep -qF "]($name" "$TESTS/../$folder/index.md" || { echo "$folder/index.md does not name $name" && exit 1; }
    done
done
