#!/bin/sh
# Texts of an answer are sent as they are, each after its number of bytes. Any text ends where it
# should, and no program has to be started to encode it.

# count TEXT: sets bytes
count() { bytes=${#1}; }
# A shell that counts characters has the locale of its start, not LC_ALL.
two=é
[ ${#two} = 2 ] || count() { bytes=$(($(printf %s "$1" | wc -c))); }

# text TEXT: for the reader's `text`
text() {
  count "$1"
  printf '%s\n%s\n' "$bytes" "$1"
}
