import { execa } from 'execa';

const MAKE = `
  cd "$1" && umask 022
  echo text >plain; mkdir -p d/e; ln plain d/hard; ln -s /etc/passwd absolute; ln -s ../plain d/e/up; mkfifo d/pipe
  truncate -s 4M sparse; printf middle | dd of=sparse bs=1 seek=2000000 conv=notrunc status=none
  chmod 2775 d; chmod 1777 d/e; chown 5:6 d/e; printf 'new line' >"d/a
b"
  head -c 300000 /dev/urandom >random
  chown 1000:1001 plain; chmod 640 plain; touch -d '2020-02-02 02:02:02.123456789Z' plain
  python3 -c 'import os; os.setxattr("plain", "user.note", b"hello")'`;

const LIST = `
  cd "$1" && find . ! -path './lost+found*' \\
    \\( ! -type d -printf '%P|%y|%m|%U:%G|%s|%n|%T@|%l|' -o -printf '%P|%y|%m|%U:%G|%T@|' \\) \\
    -exec sh -c '[ ! -f "$1" ] || sha256sum <"$1"' sh {} \\; -printf '\\n' | sort
  python3 -c 'import os; print(os.getxattr("plain", "user.note"))'
  [ "$(stat -c %b sparse)" -lt 100 ] && echo 'sparse is sparse'`;

/**
 * Creates files of every kind that archives support: owners, modes, times, extended attributes,
 * links, holes. Requires root.
 */
export async function makeFiles(folder: string): Promise<void> {
  await execa('sh', ['-ec', MAKE, 'sh', folder]);
}

/** Returns a description of such files, equal for equal files. */
export const listFiles = async (folder: string): Promise<string> =>
  (await execa('sh', ['-ec', LIST, 'sh', folder])).stdout;
