/** Maximum length of a name, from lvm(8). */
export const MAX_LVM_NAME = 127;

export const isLvmName = (name: string): boolean =>
  /^[A-Za-z0-9_.+][A-Za-z0-9_.+-]*$/.test(name) &&
  name !== '.' &&
  name !== '..' &&
  name.length <= MAX_LVM_NAME;

/** Text for messages that refuse a name. */
export const LVM_NAME = `a valid LVM name: letters, digits, \`_\`, \`.\`, \`+\` and \`-\`, not starting with \`-\`, at most ${MAX_LVM_NAME} characters`;
