# Begins a step that was put into its folder.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part

# A session of its own: what happens to this shell does not reach it.
if command -v setsid >/dev/null; then
  lead=setsid
elif command -v perl >/dev/null; then
  lead='perl -MPOSIX=setsid -e setsid;exec@ARGV'
else
  lead=
fi
$lead "$sh" "$s/run" "$tok" "$d" "$sh" "$clock" "$keep" "$limit" "$lead" "$mark" \
  </dev/null 3>&1 >/dev/null 2>&1 &
run=$!
if [ "$detach" ]; then
  while [ ! -e "$d/go" ] && kill -0 "$run" 2>/dev/null; do
    nap
  done
  exit 0
fi
wait "$run"
until_ended
