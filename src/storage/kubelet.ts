import { refuse } from '../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../nodes/job.ts';
import { failed } from './probe-results.ts';
import type { BlockDevice, DesiredVolume, DeviceUsage, Plan } from './types.ts';

/**
 * What the kubelet keeps for a `local` PersistentVolume, which has the Volume's name, below its root folder:
 * `plugins/kubernetes.io/local-volume/mounts/<pv>` is where it mounts the file system, and binds that to
 * `pods/<uid>/volumes/kubernetes.io~local-volume/<pv>` of each pod. For Block it binds the device to
 * `plugins/kubernetes.io~local-volume/volumeDevices/<pv>/<uid>`, stacks a loop of its own on that, and leads
 * `pods/<uid>/volumeDevices/kubernetes.io~local-volume/<pv>` to the device, by a symbolic link.
 */
type Place = Pick<DesiredVolume, 'name' | 'kubeletRoot'>;

const PLUGIN = 'kubernetes.io~local-volume';

/** Of it alone is known that find has come to the end of the folders before it, whichever of them are missing. */
const LAST = '/dev/null';

/**
 * Prints what is in use, a line each. Not the empty folders that are left once all is unmounted, nor the empty files that
 * a restart of the node leaves where devices were bound. It never looks into folders of other kinds of volumes, which
 * may be of a server that does not answer.
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

/** One command, which reads only. A missing root folder is no use. */
export const kubeletProbe = (place: Place): Probe => ({ name: 'kubelet', argv: search(place) });

/** The same, right before a step. */
export const notOfKubelet = (place: Place): Precondition => ({
  argv: search(place),
  expect: { stdout: { has: LAST, lacks: 'local-volume/' } },
  ...refuse('KubeletFoldersLeft', { volume: place.name }),
});

/**
 * The kubelet's folders that count as use: not empty, or a mount point, which an empty file system is, too.
 * @throws ObservationError where it did not look at all of them
 */
export function readKubelet(
  place: Place,
  result: ProbeResult,
  { mounts }: Pick<DeviceUsage, 'mounts'>,
): string[] {
  const found = result.stdout.split('\n').filter((line) => line !== '');
  if (found.pop() !== LAST) throw failed("the kubelet's folders", result);
  const unread = result.stderr.split('\n').flatMap((line) => {
    if (line === '' || line.endsWith('No such file or directory')) return [];
    // A file system that was shut down after an error cannot be read, and is mounted: the Volume's, or another's.
    const path = /^find: ['‘](.*)['’]: /.exec(line)?.[1] ?? '';
    if (isOf(place.name, path)) return [path];
    if (isOf(path.slice(path.lastIndexOf('/') + 1), path)) return [];
    throw failed("the kubelet's folders", result);
  });
  const points = [...mounts.values()].flat().filter((point) => isOf(place.name, point));
  return [...new Set([...found, ...unread, ...points])];
}

/** Says what the kubelet has, and for which pod; undefined for nothing. */
export function kubeletUse(folders: readonly string[]): string | undefined {
  const folder = folders.find((each) => podIn(each) !== undefined) ?? folders[0];
  if (folder === undefined) return undefined;
  const pod = podIn(folder);
  return `the kubelet has ${folder}${pod === undefined ? '' : ` for the pod with the UID ${pod}`}`;
}

/**
 * That the kubelet has something else mounted for a PersistentVolume of the name, an earlier one's: it would mount
 * nothing there, and show that to pods. undefined where it has not.
 * @param own the volume's devices, as far as they are there
 */
export function refuseStale(
  { name }: Place,
  { mounts }: Pick<DeviceUsage, 'mounts'>,
  own: readonly (Pick<BlockDevice, 'device'> | undefined)[],
): Plan | undefined {
  const stale = [...mounts]
    .filter(([device]) => !own.some((each) => each?.device === device))
    .flatMap(([, points]) => points)
    // A bound device has the number of the file system that it is in, and does not tell whose it is.
    .find((point) => isOf(name, point) && (own.length === 0 || !point.includes('/volumeDevices/')));
  if (stale === undefined) return undefined;
  const refused = refuse('KubeletMountsAnother', { volume: name, mountPoint: stale });
  return { ...refused, retryable: true };
}

/** Whatever the root folder: a mount point has no symbolic links in its path. */
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

const podIn = (folder: string): string | undefined =>
  /\/pods\/([^/]+)\/volume(?:s|Devices)\//.exec(folder)?.[1] ??
  /\/volumeDevices\/[^/]+\/([^/]+)$/.exec(folder)?.[1];
