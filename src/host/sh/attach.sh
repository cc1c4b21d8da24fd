# Follows a step that was begun before; one that never was will never be.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
[ -e "$d/go" ] || mkdir -m 700 "$d" 2>/dev/null
if void; then
  over void
elif [ -e "$d/go" ]; then
  say started
  until_ended
else
  say missing
fi
