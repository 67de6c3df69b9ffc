/** Programs run files below some of these as root, or read them as configuration. */
const SYSTEM_DIRECTORIES = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/root'],
  ...['/run', '/sbin', '/sys', '/usr', '/var/lib/etcd', '/var/lib/kubelet', '/var/spool/cron'],
];

/** The directory of the system, the kubelet or etcd that a path is in; undefined where it is in none. */
export const systemDirectoryOf = (path: string): string | undefined =>
  SYSTEM_DIRECTORIES.find((each) => path === each || path.startsWith(`${each}/`));
