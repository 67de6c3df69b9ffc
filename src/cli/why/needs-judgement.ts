/** What takes something away, gives it up, or says of a machine what only a person can know. */
const WEIGHED =
  /\b(?:delete|replace|umount|taint|detach|annotate)\b|--force|--forget-node|finalizers|overwrite|ssh-keygen -R|salt-key -a|--trust-host-key/;

/**
 * Whether a person is to read what is said first, and to decide, or to change a file, between these lines: then they are not given
 * as one script. A name that has such a word in it counts as well. Pure.
 */
export const isByHand = (run: readonly string[]): boolean => run.some((line) => WEIGHED.test(line));
