# Names the first $limit paths in which two manifests differ, whose lists are kept in
# $first.files and so on.
# shellcheck disable=SC2154,SC2034 # variables that come from the program, or go to another part
LC_ALL=C
export LC_ALL
{
  awk -F '\t' '
    which == 1 { was[$1] = $2 FS $3; next }
    !($1 in was) { print "new " $1; next }
    { if (was[$1] != $2 FS $3) print "metadata " $1; delete was[$1] }
    END { for (path in was) print "missing " path }' \
    which=1 "$first.full" which=2 "$second.full"
  awk '
    { path = $0; sub(/^[^ ]*  /, "", path) }
    which == 1 { was[path] = $1; next }
    (path in was) && was[path] != $1 { print "content " path }' \
    which=1 "$first.files" which=2 "$second.files"
  if [ -e "$first.xattrs" ] && [ -e "$second.xattrs" ]; then
    awk -F '\t' '
      { key = $1 FS $2 }
      which == 1 { was[key] = $3; path[key] = $1; next }
      { if (!(key in was) || was[key] != $3) print "xattrs " $1; delete was[key] }
      END { for (key in was) print "xattrs " path[key] }' \
      which=1 "$first.xattrs" which=2 "$second.xattrs"
  fi
} | sort -u | head -n "$limit"
