/**
 * End of a line about a missing file: ENOENT as strerror(3) has it in the locale C, in glibc and in
 * musl. Seen in GNU coreutils 9.1, findutils 4.9, grep 3.8, busybox 1.35 and uutils coreutils 0.12;
 * in uutils coreutils 0.0.17, 0.0.30 and 0.2.2 with the number that Rust adds.
 *
 * A test for existence would not do: test(1) fails for any error, so a file on a disk or a server
 * that fails would count as missing.
 */
const MISSING = /(?:^|: )No such file or directory(?: \(os error 2\))?$/;

/** sudo 1.9 and sudo-rs 0.2 report a program that they cannot start with the same words. */
const OF_SUDO = /^sudo(?:-rs)?: /;

/** Reports whether a line that a program printed says that its file does not exist. Pure. */
export const saysMissing = (line: string): boolean => MISSING.test(line) && !OF_SUDO.test(line);
