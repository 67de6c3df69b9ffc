#!/bin/sh
# Texts of an answer come as they are, each with its number of bytes before it: whatever is in them,
# they end where they should, and no program has to be started to encode them.

# count TEXT: sets bytes
count() { bytes=${#1}; }
# A shell that counts characters has the locale that it was started with, not LC_ALL.
two=é
[ ${#two} = 2 ] || count() { bytes=$(($(printf %s "$1" | wc -c))); }

# text TEXT: for the reader's `text`
text() {
  count "$1"
  printf '%s\n%s\n' "$bytes" "$1"
}
