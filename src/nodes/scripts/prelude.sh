#!/bin/sh
# Beginning of every script on a node. Programs of the system's administrator are not on every
# user's PATH. The PATH of the login comes first.

umask 077
LC_ALL=C PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL PATH
cd /
