#!/bin/sh
# own-mounts.sh COMMAND…: in a new mount namespace, before anything else.
#
# The namespace begins with a copy of every mount, and a copy keeps what another test unmounts
# meanwhile, and its loop device, busy. So the copies go.
set -e
sed -n 's|^/dev/loop[^ ]* \([^ ]*\) .*|\1|p' /proc/self/mounts | while read -r at; do
    umount -l "$at"
done
exec "$@"
