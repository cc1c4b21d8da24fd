# Ends a step; one that has not begun will never begin.
[ -e "$d/go" ] || mkdir -m 700 "$d" 2>/dev/null
void
stop_step "$patience" "$finally"
