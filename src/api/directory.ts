const MAX_DIRECTORY_BYTES = 1024;

/**
 * Returns the requirement that a canonical absolute path must meet and this one does
 * not; undefined if it meets all.
 */
export function directoryWanted(directory: string): string | undefined {
  if (!directory.startsWith('/')) return 'be an absolute path';
  if (Buffer.byteLength(directory) > MAX_DIRECTORY_BYTES) {
    return `be ${MAX_DIRECTORY_BYTES} bytes long at most`;
  }
  if (/\p{Cc}/u.test(directory)) return 'have no control characters';
  const parts = directory.split('/').slice(1);
  return parts.some((part) => part === '' || part === '.' || part === '..')
    ? 'be a directory below /, without `.`, `..`, `//` or a trailing slash'
    : undefined;
}
