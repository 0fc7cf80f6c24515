# All models that JAGS can read.
ALL=yes
. "$TESTS/cli/jags.sh"
