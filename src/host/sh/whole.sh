# Lets the command of a step see the end of its input: all of it has arrived.
# shellcheck disable=SC2154 # variables that come from the program
if [ -d "$d" ] && true >"$d/whole"; then
  say whole
fi
