# The manifest of tree $root, as docs/manifest.md defines it; its lists are kept in $keep.files,
# $keep.full and $keep.xattrs. The tree is only read.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
LC_ALL=C
export LC_ALL
unset CDPATH
nl='
'
cr=$(printf '\r.')
cr=${cr%.}
tab=$(printf '\t.')
tab=${tab%.}

fail() {
  printf '%s\n' "$*" >&2
  rm -rf "$keep.work"
  exit 1
}

case $keep in
  /*) ;;
  *) keep=$PWD/$keep ;;
esac
: >"$keep.errors" || fail "the lists cannot be written beside $keep"
rm -rf "$keep.work"
mkdir "$keep.work" || fail "the lists cannot be written beside $keep"
cd "$root" || fail "the tree cannot be entered"

# Whatever went wrong on the way: a manifest without an unreadable file would be a lie.
check() {
  if [ -s "$keep.errors" ]; then
    fail "$(head -n 3 "$keep.errors")"
  fi
}

if openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then
  hasher='openssl dgst -sha256 -r'
elif sha256sum </dev/null >/dev/null 2>&1; then
  hasher=sha256sum
elif sha256 -r </dev/null >/dev/null 2>&1; then
  hasher='sha256 -r'
else
  fail 'there is neither openssl nor sha256sum nor sha256 to hash with'
fi

# Hash of standard input.
digest() {
  said=$($hasher)
  printf '%s\n' "${said%% *}"
}

# Escapes a path: swap TEXT CHARACTER INSTEAD gives $swapped. Text, for it runs in a shell of
# its own, too.
# shellcheck disable=SC2016 # expanded where it runs
escapes='
swap() {
  swapped=
  rest=$1
  while :; do
    case $rest in
      *"$2"*)
        swapped=$swapped${rest%%"$2"*}$3
        rest=${rest#*"$2"}
        ;;
      *) break ;;
    esac
  done
  swapped=$swapped$rest
}
escape() {
  swapped=$1
  case $1 in
    *\\* | *"$nl"* | *"$cr"*)
      swap "$1" "\\" "\\\\"
      swap "$swapped" "$nl" "\\n"
      swap "$swapped" "$cr" "\\r"
      ;;
  esac
}
'
export nl cr tab keep hasher

# Hashes of regular files. Names that need an escape are few, and go one by one; of the others
# a batch writes a file of its own, so that no two mix.
# shellcheck disable=SC2016 # expanded where it runs
batch='[ $# -eq 0 ] || $hasher "$@" >>"$keep.work/part.$$" 2>>"$keep.errors"'
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
if find / -prune -print0 >/dev/null 2>&1 && printf 'a\0' | xargs -0 -n 1 -P 2 true 2>/dev/null; then
  find . -type f ! -path '*\\*' ! -path "*$nl*" ! -path "*$cr*" -print0 2>>"$keep.errors" |
    xargs -0 -n 32 -P "$jobs" sh -c "$batch" sh
else
  find . -type f ! -path '*\\*' ! -path "*$nl*" ! -path "*$cr*" \
    -exec sh -c "$batch" sh {} + 2>>"$keep.errors"
fi
find . -type f \( -path '*\\*' -o -path "*$nl*" -o -path "*$cr*" \) -exec sh -c "$escapes"'
  for path do
    said=$($hasher <"$path")
    escape "$path"
    printf "\\\\%s  %s\n" "${said%% *}" "$swapped"
  done' sh {} + >"$keep.work/odd" 2>>"$keep.errors"
check
{
  find "$keep.work" -name 'part.*' -exec cat {} + |
    sed 's/^\([0-9a-f]\{64\}\) [ *]\{0,1\}\.\//\1  .\//'
  cat "$keep.work/odd"
} | sort -k 2 >"$keep.files"

# Every entry: path, tab, type, mode, uid, gid, links, tab, target.
if find . -prune -printf '' 2>/dev/null && [ "$(printf 'a\0' | sed 's/\x00/b/' 2>/dev/null)" = ab ]; then
  find . \( -type d -printf '%p\0d %m %U %G 0\0\0' \) -o -printf '%p\0%y %m %U %G %n\0%l\0' \
    2>>"$keep.errors" | tr '\n\0' '\0\n' |
    sed 's/\\/\\\\/g; s/\x00/\\n/g; s/\r/\\r/g; s/\t/\\t/g' | paste - - - >"$keep.work/full"
  find . -type f -printf '%s\n' 2>>"$keep.errors" >"$keep.work/sizes"
else
  if stat -c %a . >/dev/null 2>&1; then
    stat='stat -c %a_%u_%g_%h_%s'
  else
    stat='stat -f %Mp%Lp_%u_%g_%l_%z'
  fi
  export stat
  : >"$keep.work/sizes"
  find . -exec sh -c "$escapes"'
    $stat "$@" >"$keep.work/stat" || exit
    exec <"$keep.work/stat"
    for path do
      IFS=_ read -r mode uid gid links size
      while [ "${#mode}" -gt 1 ] && [ "$mode" != "${mode#0}" ]; do mode=${mode#0}; done
      target=
      if [ -L "$path" ]; then
        type=l
        target=$(readlink "$path" && echo .)
        target=${target%"$nl".}
      elif [ -f "$path" ]; then
        type=f
        echo "$size" >>"$keep.work/sizes"
      elif [ -d "$path" ]; then
        type=d links=0
      elif [ -p "$path" ]; then
        type=p
      elif [ -S "$path" ]; then
        type=s
      elif [ -b "$path" ]; then
        type=b
      else
        type=c
      fi
      escape "$path"
      swap "$swapped" "$tab" "\\t"
      line="$swapped$tab$type $mode $uid $gid $links$tab"
      escape "$target"
      swap "$swapped" "$tab" "\\t"
      printf "%s\n" "$line$swapped"
    done' sh {} + >"$keep.work/full" 2>>"$keep.errors"
fi
check
sort "$keep.work/full" >"$keep.full"

# Extended attributes: path, tab, name, tab, value in hexadecimal digits.
rm -f "$keep.xattrs"
if getfattr --version >/dev/null 2>&1; then
  getfattr -R -P -h -d -m - -e hex . 2>"$keep.work/xattr-errors" | sed '
    s/\\012/\\n/g
    s/\\015/\\r/g
    s/\\075/=/g
    s/'"$tab"'/\\t/g
    s/\\134/\\\\/g' | awk '
    sub(/^# file: /, "") { path = ($0 == ".") ? $0 : "./" $0; next }
    match($0, /=0x[0-9a-fA-F]*$/) {
      print path "\t" substr($0, 1, RSTART - 1) "\t" tolower(substr($0, RSTART + 3))
    }' | sort >"$keep.xattrs"
  grep -v 'not supported' "$keep.work/xattr-errors" >>"$keep.errors"
  check
fi

printf 'files %s\n' "$(digest <"$keep.files")"
printf 'full %s\n' "$(digest <"$keep.full")"
if [ -e "$keep.xattrs" ]; then
  printf 'xattrs %s\n' "$(digest <"$keep.xattrs")"
else
  echo 'xattrs no'
fi
printf 'bytes %s\n' "$(awk '{ n += $1 } END { printf "%.0f", n }' "$keep.work/sizes")"
printf 'count %s\n' "$(($(wc -l <"$keep.files")))"
printf 'tool %s\n' "$hasher"
rm -rf "$keep.work" "$keep.errors"
