#!/bin/sh
# Every script on a node begins so. Programs of the system's administrator are not on every user's
# PATH. What the login set comes first.

umask 077
LC_ALL=C PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL PATH
cd /
