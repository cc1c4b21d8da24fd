# Tries whether scripts run as another user through $command: says who logged in, who $who finds
# itself to be, and how it ended. It has $limit seconds.
# shellcheck disable=SC2154 # variables that come from the program
say login "$(id -un 2>/dev/null || id -u)"
# Without a terminal, so that no password can be asked for on the operator's.
lead=
command -v setsid >/dev/null && lead=setsid
# shellcheck disable=SC2016 # for the shell in between
$lead /bin/sh -c "$command"' /bin/sh -c "$1"' sh "$who" </dev/null &
tried=$!
(
  nap=
  trap 'kill "$nap" 2>/dev/null; exit 0' TERM
  sleep "$limit" &
  nap=$!
  wait "$nap"
  kill -TERM "-$tried" || kill -TERM "$tried"
) >/dev/null 2>&1 &
watch=$!
wait "$tried"
say status "$?"
kill "$watch" 2>/dev/null
