# The supervisor: times one command, keeps its output and its status, and outlives whatever
# is done to it. Its arguments: token, folder, shell, clock, bytes of a stream to keep, bytes
# at which a stream is cut back to that, what makes a session, the mark of a line for the program;
# and whether the command reads file descriptor 5, and writes to 6: a side of a stream.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
# shellcheck disable=SC3028 # EPOCHREALTIME is looked for before it is used
tok=$1 d=$2 sh=$3 clock=$4 keep=$5 limit=$6 lead=$7 mark=$8
reads=${9-}
shift 8
writes=${2-}

echo "$$" >"$d/sup"

read_up() {
  up=-
  read -r up _ 2>/dev/null </proc/uptime
}

read_wall() {
  case $clock in
    EPOCHREALTIME) wall=$EPOCHREALTIME ;;
    'date +%s%N') wall=$(date +%s%N) ;;
    *) wall=$(date +%s) ;;
  esac
}

# Cuts stream $1 of $2 bytes back to its first $4 and its last 64 KiB where it grew over $3.
# It was opened for appending, so what is written next goes to the new end.
bound() {
  if [ "$2" -gt "$3" ]; then
    tail -c 65536 "$d/$1" >"$d/tail"
    dd of="$d/$1" bs=1 seek="$4" count=0 2>/dev/null
    cat "$d/tail" >>"$d/$1"
    true >"$d/cut.$1"
  fi
}

# The room for the status is taken now: the disk may be full when it is needed.
printf '%-400s\n' '' >"$d/status.new"
input=/dev/null
if [ -f "$d/stdin" ]; then
  input=$d/stdin
fi
exec 4<"$input"
[ "$input" = /dev/null ] || rm -f "$d/stdin"

# From here on it is run. Who waits for that hears it; a connection that is gone ends nothing.
claim || exit 0
trap '' PIPE
say started >&3
trap - PIPE

begin() {
  # So that it inherits these three alone: a shell may keep copies of what it redirects.
  exec <&4 4<&-
  if [ "$writes" ]; then exec >&6; else exec >>"$d/out"; fi
  exec 2>>"$d/err" 3>&- 5<&- 6>&- 8>&-
  COMEBACK_STEP=$tok
  export COMEBACK_STEP
  # shellcheck disable=SC2086 # the words that make a session
  exec $lead "$sh" "$d/cmd"
}

# Hands a stream on. What ends here may be the stream or its connection: the command sees an
# end only when the program has said that this was all.
feed() {
  exec >&8 4<&- 6>&- 8>&-
  trap '' PIPE
  (trap - PIPE && exec cat <&5 3>&-) && say fed >&3
  exec 3>&- 5<&-
  tries=0
  while [ -d "$d" ] && [ ! -e "$d/whole" ] && [ ! -e "$d/status" ]; do
    tries=$((tries + 1))
    if [ "$tries" -lt 100 ]; then
      sleep 0.01 2>/dev/null || sleep 1
    else
      sleep 1
    fi
  done
}

# No pipe of the shell's: some wait for all of it where they are to wait for the command.
if [ "$reads" ]; then
  # shellcheck disable=SC2094 # both ends are wanted; the first opening waits for no other
  exec 7<>"$d/pipe" 8>"$d/pipe" 4<"$d/pipe"
  exec 7<&-
  rm -f "$d/pipe"
  feed &
fi

# Where the wall clock is read by a program, that takes time: the uptime on both sides of it.
read_up
up_start=$up
read_wall
wall_start=$wall
read_up
up_start=$up_start~$up
begin &
pid=$!
exec 3>&- 4<&- 5<&- 6>&- 8>&-
(
  nap=
  trap 'kill "$nap" 2>/dev/null; exit 0' TERM
  # Should the supervisor be killed, the command's output is still bounded.
  while [ -d "$d" ] && { kill -0 "$$" || kill -0 "$pid"; } 2>/dev/null; do
    sleep 1 &
    nap=$!
    wait "$nap"
    sizes
    bound out "$bytes_out" "$limit" "$keep"
    bound err "$bytes_err" "$limit" "$keep"
  done
) &
watch=$!
# Caught, not ignored: what is ignored stays so in the command, and a stop would not reach it.
# And not before both are there: a signal that comes right after a fork would end in this trap.
trap 'hit=yes' TERM HUP INT
echo "$pid ${lead:+own}" >"$d/pid"

# A signal ends a wait early. A second wait tells the status, or 127 where the first one had it.
status=
hit=yes
while [ "$hit" ]; do
  hit=
  there=yes
  [ -z "$status" ] || kill -0 "$pid" 2>/dev/null || there=
  wait "$pid"
  code=$?
  if [ -z "$status" ] || [ "$there" ] || [ "$code" -ne 127 ]; then
    status=$code
  fi
done
read_up
up_end=$up
read_wall
read_up
up_end=$up_end~$up
kill "$watch" 2>/dev/null
wait "$watch"

# What is written from here on is not the command's.
bytes_out=0
bytes_err=0
if [ -s "$d/out" ] || [ -s "$d/err" ]; then
  sizes
fi

# Each member of a pipe left its own status.
members=
if read -r members 2>/dev/null <"$d/cmd.n"; then
  status=
  i=1
  while [ "$i" -le "$members" ]; do
    code='?'
    read -r code 2>/dev/null <"$d/cmd.$i"
    status="$status${status:+,}${code:-?}"
    i=$((i + 1))
  done
fi

# Ends what the command left in its group. The leader's number stays taken while the group
# has a member, so it is still this command's.
left=0
if [ "$lead" ] && signal_group 0 "$pid"; then
  group() {
    table | awk -v group="$pid" '$3 == group && $5 !~ /^[ZX]/ { n++ } END { print n + 0 }'
  }
  left=$(group)
  [ "$left" -eq 0 ] || signal_group TERM "$pid"
  tries=0
  while [ "$tries" -lt 10 ] && [ "$(group)" -gt 0 ]; do
    tries=$((tries + 1))
    nap
  done
  while [ "$tries" -lt 20 ] && [ "$(group)" -gt 0 ]; do
    signal_group KILL "$pid"
    tries=$((tries + 1))
    nap
  done
fi

cuts
line="$status $wall_start $wall $up_start $up_end $bytes_out $bytes_err $cut$left"
printf '%s\n' "$line" 1<>"$d/status.new"
mv -f "$d/status.new" "$d/status"

# Whether the command may have left a process: one began after the supervisor did. Numbers grow, until they
# begin anew: then it may be any. To look at every process's environment would cost more, and the next step
# may be timed meanwhile.
may_have_left() {
  last=
  read -r _ _ _ _ last 2>/dev/null </proc/loadavg
  [ "${last:-0}" -gt "$$" ] || return 0
  later=0
  for process in /proc/[0-9]*; do
    [ "${process#/proc/}" -le "$$" ] || later=$((later + 1))
  done
  # This shell is one of them.
  [ "$later" -gt 1 ]
}

# A daemon that the command left may still write to the streams: bounded as before.
(
  may_have_left || exit
  keep_out=$bytes_out
  keep_err=$bytes_err
  while [ -e "$d/status" ]; do
    if sees_through; then
      grep -qszxF -e "COMEBACK_STEP=$tok" /proc/[0-9]*/environ || break
      sleep 2
      sizes
    else
      # To look at every process would cost more than it is worth: does anything come?
      sleep 2
      sizes
      [ "$bytes_out" -ne "$keep_out" ] || [ "$bytes_err" -ne "$keep_err" ] || break
    fi
    bound out "$bytes_out" "$((keep_out + limit - keep))" "$keep_out"
    bound err "$bytes_err" "$((keep_err + limit - keep))" "$keep_err"
  done
) &
