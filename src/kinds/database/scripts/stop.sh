#!/usr/bin/env bash
# shellcheck disable=SC2154,SC2153
# Before a container is ended: lets the news spread that this pod is leaving, then a fast stop. Whatever signal the
# image stops with, one that waits for clients would wait for ever.
set -euo pipefail
here=${BASH_SOURCE[0]%/*}
export POINTSMAN_TERMINATION_LOG=/dev/null
for part in words server; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done
trap - ERR TERM INT
# Most is written now, so that the stop itself is short.
ask_here -c CHECKPOINT >/dev/null 2>&1 &
sleep "${POINTSMAN_DRAIN:-3}"
wait || true
kill -INT 1
# The hook's end is the signal's turn; it finds the server on its way out already.
for ((second = 0; second < 100; second++)); do
    [[ -e $RUN/.s.PGSQL.$PORT ]] || break
    sleep 0.1
done
