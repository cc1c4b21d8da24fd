# What every script needs of its environment, whatever the login shell made of it. POSIX sh: the
# same on dash, bash and BusyBox ash.
LC_ALL=C
PATH="${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
export LC_ALL PATH
# What an exported SHELLOPTS may have set, and words that change what programs print or do.
set +Cefuvx
unset CDPATH GREP_OPTIONS TAR_OPTIONS TIME_STYLE QUOTING_STYLE POSIXLY_CORRECT \
  BLOCKSIZE BLOCK_SIZE DF_BLOCK_SIZE DU_BLOCK_SIZE LS_BLOCK_SIZE
