# Says the status of each command of a pipe but the last, which may still run.
# shellcheck disable=SC2154 # variables that come from the program
members=1
read -r members 2>/dev/null <"$d/cmd.n"
i=1
while [ "$i" -lt "$members" ]; do
  code='?'
  read -r code 2>/dev/null <"$d/cmd.$i"
  say sender "${code:-?}"
  i=$((i + 1))
done
say senders
