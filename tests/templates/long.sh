#!/bin/sh
# Runs a command that takes long, with FMHA_TEST_LONG=1 only; else the test is skipped, visibly.
if [ "${FMHA_TEST_LONG:-}" != 1 ]; then
    echo "skipped: a long sweep; set FMHA_TEST_LONG=1, or run ./check --long"
    exit 77
fi
exec "$@"
