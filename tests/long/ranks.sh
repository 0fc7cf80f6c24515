# Several processes, with every kernel, start and number of them.
ALL=yes
. "$TESTS/cli/ranks.sh"
