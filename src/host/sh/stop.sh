# Ends a step; one that has not begun will never begin.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
[ -e "$d/go" ] || mkdir -m 700 "$d" 2>/dev/null
void
stop_step "$patience" "$finally"
