#!/bin/sh
# The manual shows examples/documents.hip as it is.
#   manual_modifier.sh SOURCE_ROOT
set -eu
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1/docs/modifiers.md" | diff - "$1/examples/documents.hip"
