# Lives as long as the session's program and its connection: the sign that somebody is there.
# Ends the background loads of session $s when they are gone. The program says a line every
# few seconds: a machine that lost its power sends no end.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
trap '' PIPE HUP INT
echo "$$" >"$s/keeper"
true >"$s/beat"

# shellcheck disable=SC2154 # $s, $name and $beat are set by the program
end_loads() {
  for d in "$s"/steps/*/; do
    d=${d%/}
    if [ -e "$d/load" ] && [ ! -e "$d/status" ]; then
      (
        tok=$name/steps/${d##*/}/
        stop_step 1 kill >/dev/null 2>&1
      ) &
    fi
  done
  wait
  held=
  read -r held _ 2>/dev/null <"$s/keeper"
  [ "$held" != "$$" ] || rm -f "$s/keeper" "$s/beat"
}

(
  nap=
  trap 'kill "$nap" 2>/dev/null; exit 0' TERM
  while :; do
    sleep "$beat" &
    nap=$!
    wait "$nap"
    if [ -e "$s/beat" ]; then
      rm -f "$s/beat"
    else
      end_loads
      kill -KILL "$$"
      exit 0
    fi
  done
) >/dev/null 2>&1 &
watch=$!
say kept
while read -r _; do
  true >"$s/beat"
done
kill "$watch" 2>/dev/null
end_loads
