import { refuse } from '../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../nodes/job.ts';
import { saysMissing } from './errno.ts';
import { failed } from './probe-results.ts';
import type { BlockDevice, DesiredVolume, DeviceUsage, Plan } from './types.ts';

/**
 * Name and root directory by which the kubelet's directories for a `local` PersistentVolume are
 * found. The PersistentVolume has the Volume's name. The kubelet mounts its file system at
 * `plugins/kubernetes.io/local-volume/mounts/<pv>`, and binds that to
 * `pods/<uid>/volumes/kubernetes.io~local-volume/<pv>` of each pod. For Block it binds the device
 * to `plugins/kubernetes.io~local-volume/volumeDevices/<pv>/<uid>`, stacks a loop device of its own
 * on that, and makes `pods/<uid>/volumeDevices/kubernetes.io~local-volume/<pv>` a symbolic link to
 * the device.
 */
type Place = Pick<DesiredVolume, 'name' | 'kubeletRoot'>;

const PLUGIN = 'kubernetes.io~local-volume';

/**
 * Last path of the search. Its line proves that find reached the end, whichever directories are
 * missing.
 */
const LAST = '/dev/null';

/**
 * Returns a command that prints what is in use, one path per line. It omits empty directories that
 * remain after all is unmounted, and empty files that a reboot leaves where devices were bound. It
 * never enters directories of other kinds of volumes, which may be on a server that does not
 * answer.
 */
function search({ name, kubeletRoot: root }: Place): string[] {
  return [
    ...['find', '-H', `${root}/plugins/kubernetes.io/local-volume/mounts/${name}`],
    ...[`${root}/plugins/${PLUGIN}/volumeDevices/${name}`, `${root}/pods`, LAST],
    ...['-ignore_readdir_race', '-maxdepth', '4'],
    ...['(', '-path', `${root}/pods/*/*`, '!', '-name', 'volumes', '!', '-name', 'volumeDevices'],
    ...['!', '-name', PLUGIN, '!', '-path', `*/${PLUGIN}/${name}`, '-prune', ')', '-o'],
    ...[
      '(',
      '-path',
      `*/local-volume/mounts/${name}`,
      '-prune',
      '-o',
      '-path',
      `*/volumeDevices/${name}/*`,
    ],
    ...['-o', '-path', `*/${PLUGIN}/${name}`, '-o', '-path', LAST, ')', '!', '-empty', '-print'],
  ];
}

/** Returns one read-only probe of the kubelet's directories. A missing root directory is no use. */
export const kubeletProbe = (place: Place): Probe => ({ name: 'kubelet', argv: search(place) });

/** Requires that the kubelet does not use the volume. */
export const notOfKubelet = (place: Place): Precondition => ({
  argv: search(place),
  expect: { stdout: { has: LAST, lacks: 'local-volume/' } },
  ...refuse('KubeletFoldersLeft', { volume: place.name }),
});

/**
 * Returns the kubelet's directories that count as use: not empty, or a mount point, which an empty
 * file system is too.
 * @throws ObservationError if the search was incomplete
 */
export function readKubelet(
  place: Place,
  result: ProbeResult,
  { mounts }: Pick<DeviceUsage, 'mounts'>,
): string[] {
  const found = result.stdout.split('\n').filter((line) => line !== '');
  if (found.pop() !== LAST) throw failed("the kubelet's directories", result);
  const unread = result.stderr.split('\n').flatMap((line) => {
    if (line === '' || saysMissing(line)) return [];
    // A file system that was shut down after an error is unreadable and mounted: the Volume's or
    // another.
    const path = /^find: ['‘](.*)['’]: /.exec(line)?.[1] ?? '';
    if (isOf(place.name, path)) return [path];
    if (isOf(path.slice(path.lastIndexOf('/') + 1), path)) return [];
    throw failed("the kubelet's directories", result);
  });
  const points = [...mounts.values()].flat().filter((point) => isOf(place.name, point));
  return [...new Set([...found, ...unread, ...points])];
}

/** Describes the kubelet's use of a volume and the pod that it is for; undefined for no use. */
export function kubeletUse(directories: readonly string[]): string | undefined {
  const directory = directories.find((each) => podIn(each) !== undefined) ?? directories[0];
  if (directory === undefined) return undefined;
  const pod = podIn(directory);
  return `the kubelet has ${directory}${pod === undefined ? '' : ` for the pod with the UID ${pod}`}`;
}

/**
 * Refuses if the kubelet has another device mounted for an earlier PersistentVolume of the name.
 * The kubelet would mount nothing there, and expose that mount to pods. Returns undefined
 * otherwise.
 * @param own the volume's devices, as far as they are present
 */
export function refuseStale(
  { name }: Place,
  { mounts }: Pick<DeviceUsage, 'mounts'>,
  own: readonly (Pick<BlockDevice, 'device'> | undefined)[],
): Plan | undefined {
  const stale = [...mounts]
    .filter(([device]) => !own.some((each) => each?.device === device))
    .flatMap(([, points]) => points)
    // A bound device has the number of the file system that it is in, which does not show its
    // owner.
    .find((point) => isOf(name, point) && (own.length === 0 || !point.includes('/volumeDevices/')));
  if (stale === undefined) return undefined;
  const refused = refuse('KubeletMountsAnother', { volume: name, mountPoint: stale });
  return { ...refused, retryable: true };
}

/**
 * Matches a path of the kubelet by its end, since mount points have symbolic links of the root
 * directory resolved.
 */
function isOf(name: string, path: string): boolean {
  const [one, two, three, four, five] = path.split('/').slice(-5);
  return (
    (four === 'mounts' &&
      five === name &&
      `${one}/${two}/${three}` === 'plugins/kubernetes.io/local-volume') ||
    (one === 'pods' &&
      (three === 'volumes' || three === 'volumeDevices') &&
      four === PLUGIN &&
      five === name) ||
    (one === 'plugins' && two === PLUGIN && three === 'volumeDevices' && four === name)
  );
}

const podIn = (directory: string): string | undefined =>
  /\/pods\/([^/]+)\/volume(?:s|Devices)\//.exec(directory)?.[1] ??
  /\/volumeDevices\/[^/]+\/([^/]+)$/.exec(directory)?.[1];
