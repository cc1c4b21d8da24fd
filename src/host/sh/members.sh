# Which processes belong to a step ($d its folder, $tok its token), and how they are ended.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
# shellcheck disable=SC2009,SC2013 # no pgrep everywhere; the names hold no blanks

# Whether process $1 carries the token: in its environment or its arguments. A pid alone
# proves nothing, it may be used again.
has_token() {
  if [ -r "/proc/$1/cmdline" ]; then
    cat "/proc/$1/cmdline" "/proc/$1/environ" 2>/dev/null | tr '\0' '\n' | grep -qF -e "$tok"
  else
    ps -A -o pid= -o args= 2>/dev/null | grep -E "^ *$1 " | grep -qF -e "$tok"
  fi
}

# Whether grep takes a NUL byte for the end of a line, as GNU's and a newer BusyBox's do.
sees_through() {
  printf 'a\0b\0' | grep -qzxF b 2>/dev/null
}

# The processes that carry the token in their environment.
holders() {
  if sees_through; then
    grep -lszxF -e "COMEBACK_STEP=$tok" /proc/[0-9]*/environ
  else
    for file in /proc/[0-9]*/environ; do
      if tr '\0' '\n' <"$file" | grep -qxF -e "COMEBACK_STEP=$tok"; then
        echo "$file"
      fi
    done 2>/dev/null
  fi
}

# Whether the supervisor of the step lives.
supervised() {
  sup=
  read -r sup _ 2>/dev/null <"$d/sup"
  [ "$sup" ] && has_token "$sup"
}

# $leader: the command's first process, $own: whether its group is its own. Fails where it
# is not there any more.
find_leader() {
  leader='' own=''
  read -r leader own _ 2>/dev/null <"$d/pid"
  [ "$leader" ] && has_token "$leader"
}

# All processes, a line each: pid, parent, group, session, state. The pid is that of the
# folder's name, and a line ends at the first newline, so a process's name forges nothing.
table() {
  if [ -r /proc/self/stat ]; then
    for stat in /proc/[0-9]*/stat; do
      line=
      read -r line <"$stat" || continue
      case $line in *') '*) ;; *) continue ;; esac
      pid=${stat#/proc/}
      # shellcheck disable=SC2086 # it is split on purpose
      set -- ${line##*) }
      echo "${pid%/stat} $2 $3 $4 $1"
    done 2>/dev/null
  else
    ps -A -o pid= -o ppid= -o pgid= -o sid= -o stat= 2>/dev/null
  fi
}

# The living processes of the step, a line each: pid, group. Those that carry the token (a
# daemon that made a session of its own does, too), those in the leader's group or session,
# and whatever descends from them. The leader comes first: it is to be ended, not to see its
# children end.
members() {
  holders=
  if [ -r /proc/self/environ ]; then
    for file in $(holders); do
      file=${file#/proc/}
      holders="$holders ${file%/environ}"
    done
  fi
  apart=
  if find_leader; then
    holders="$holders $leader"
    [ "$own" = own ] && apart=$leader
  fi
  [ "$holders" ] || return 0
  table | awk -v holders="$holders" -v leader="$apart" -v first="$leader" -v self="$$" '
    BEGIN { n = split(holders, h, " "); for (i = 1; i <= n; i++) is[h[i]] = 1 }
    $5 !~ /^[ZX]/ {
      parent[$1] = $2; group[$1] = $3
      if (leader != "" && ($3 == leader || $4 == leader)) is[$1] = 1
    }
    END {
      do {
        more = 0
        for (p in parent) if (!(p in is) && (parent[p] in is)) { is[p] = 1; more = 1 }
      } while (more)
      if ((first in is) && (first in parent)) print first, group[first]
      for (p in is) if ((p in parent) && p != self && p != first) print p, group[p]
    }'
}

# Sends signal $1 to group $2. The shell's own kill takes a group as it is; a program of that
# name may read -123 as "group 1", which is everybody.
signal_group() {
  [ "$2" -gt 1 ] || return 1
  case $(command -v kill) in
    kill) kill "-$1" "-$2" 2>/dev/null ;;
    *) kill "-$1" -- "-$2" 2>/dev/null ;;
  esac
}

# Sends signal $1 to what members() said ($all): to the leader's group at once, to others one
# by one. Who is in $told was told before.
signal_all() {
  sent=
  if find_leader && [ "$own" = own ]; then
    case $told in
      *" -$leader "*) sent=$leader ;;
      *) signal_group "$1" "$leader" && sent=$leader ;;
    esac
  fi
  # shellcheck disable=SC2086 # it is split on purpose
  set -- "$1" $all
  signal=$1
  shift
  while [ $# -gt 1 ]; do
    case $told in
      *" $1 "*) ;;
      *)
        [ "$2" = "$sent" ] || kill "-$signal" "$1" 2>/dev/null
        told="$told$1 "
        ;;
    esac
    shift 2
  done
  [ "$sent" ] && told="$told-$sent "
  return 0
}

# Whether the supervisor has noted the end. One that has not is about to do so, or to begin
# the command.
noted() {
  [ -e "$d/status" ] || ! supervised
}

# TERM once to the leader's group alone: who tells its own children to end wants no help.
signal_leader() {
  find_leader && [ "$own" = own ] || return 0
  case $told in
    *" -$leader "*) ;;
    *) signal_group TERM "$leader" && told="$told-$leader " ;;
  esac
}

# Ends the step: TERM once to each of its processes ($2 group: to its leader's group alone); after
# $1 seconds KILL, where $2 says kill. Says what is left.
stop_step() {
  told=' '
  read_now
  until=$((now + $1))
  while :; do
    all=$(members)
    if [ -z "$all" ] && noted; then break; fi
    if [ "$2" = group ]; then signal_leader; else signal_all TERM; fi
    read_now
    [ "$now" -lt "$until" ] || break
    nap
  done
  if [ "$2" = kill ]; then
    read_now
    until=$((now + 10))
    while :; do
      all=$(members)
      if [ -z "$all" ] && noted; then break; fi
      told=' '
      [ -z "$all" ] || signal_all KILL
      read_now
      [ "$now" -lt "$until" ] || break
      nap
    done
  fi
  all=$(members)
  # shellcheck disable=SC2086 # it is split on purpose
  set -- $all
  while [ $# -gt 1 ]; do
    what=
    read -r what 2>/dev/null <"/proc/$1/comm"
    say left "$1" "$(printf '%s' "$what" | tr -cd ' -~')"
    shift 2
  done
  say proved
}

# Whether the step was never begun: from here on it never will be.
void() {
  [ -e "$d/void" ] || { [ ! -e "$d/go" ] && claim && true >"$d/void"; }
}

# Takes the right to begin the step, or to see to it that it never begins: once.
claim() {
  set -C
  { true >"$d/go"; } 2>/dev/null
  claimed=$?
  set +C
  return "$claimed"
}
