# Ends a step; one that has not begun will never begin.
if [ ! -e "$d/go" ]; then
  mkdir -m 700 "$d" 2>/dev/null
  claim && true >"$d/void"
fi
stop_step "$patience" "$finally"
