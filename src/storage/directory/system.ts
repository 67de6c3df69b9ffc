/**
 * Directories of the system: programs run files below some of them as root, or read them as
 * configuration.
 */
const SYSTEM_DIRECTORIES = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/root'],
  ...['/run', '/sbin', '/sys', '/usr', '/var/lib/etcd', '/var/lib/kubelet', '/var/spool/cron'],
];

/**
 * Returns the directory of the system, the kubelet or etcd that contains a path; undefined if none
 * does.
 */
export const systemDirectoryOf = (path: string): string | undefined =>
  SYSTEM_DIRECTORIES.find((each) => path === each || path.startsWith(`${each}/`));
