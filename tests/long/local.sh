# Local moves, compared with NUTS on every model of models/.
ALL=yes
. "$TESTS/cli/local.sh"
