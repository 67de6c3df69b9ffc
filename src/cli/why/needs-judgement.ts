/**
 * Commands that remove or force-detach something, give data to other claims, or need what only a
 * person can know.
 */
const WEIGHED =
  /\b(?:delete|replace|umount|taint|detach|annotate)\b|--force|--forget-node|finalizers|claimRef|overwrite|ssh-keygen -R|salt-key -a|--trust-host-key|\bSIZE\b/;

/**
 * Reports whether a person must first read the explanation, and decide or edit a file: the lines
 * are then not offered as one script. Names that contain such a term count as well. Pure.
 */
export const needsJudgement = (run: readonly string[]): boolean =>
  run.some((line) => WEIGHED.test(line));
