# Follows a step that was begun before; one that never was will never be.
if [ ! -e "$d/go" ]; then
  mkdir -m 700 "$d" 2>/dev/null
  claim && true >"$d/void"
fi
if [ -e "$d/void" ]; then
  say void
elif [ -e "$d/go" ]; then
  say started
  until_ended
else
  say missing
fi
