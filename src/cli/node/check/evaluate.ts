import { dirname } from 'node:path';
import { isPaused } from '../../../api/paused.ts';
import { entryOf, readReason } from '../../../api/reasons.ts';
import type { Volume } from '../../../api/volume.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { refuseAway } from '../../../storage/directory/refuse.ts';
import type { Check } from '../../lib/checks/report.ts';
import { closedChecks, directoryChecks, goneChecks, splitDirectories } from './directories.ts';
import {
  type ClusterFacts,
  linkOfVolume,
  madeOn,
  type NodeContent,
  type NodeFacts,
  type Observation,
  ownedUids,
} from './facts.ts';
import { groupChecks, lvmChecks } from './groups.ts';
import { leftJobs, leftoversIn } from './leftovers.ts';
import { judgeSystem, spaceChecks } from './system.ts';

/** Returns the checks of a node. `deleting` has the Volumes being deleted. Pure. */
export function judge(
  node: string,
  facts: NodeFacts,
  cluster: ClusterFacts,
  deleting: readonly Volume[],
): Check[] {
  const { udev, commands, system, content, subjects } = facts;
  const first: Check[] = [
    { check: 'reachable', ok: true, message: 'it answers' },
    ...(isPaused(cluster.nodes.get(node)) ? [paused(node)] : []),
  ];
  if ('problem' in udev) return [...first, notObserved('user', udev)];
  const user: Check = { check: 'user', ok: true, message: 'runs programs as root' };
  const owned = ownedUids(cluster);
  const { checked, gone } =
    'problem' in content
      ? { checked: [], gone: [] }
      : splitDirectories(content.known.directories, content.known.unused);
  const left = [
    ...('problem' in content
      ? [notObserved('leftovers', content)]
      : [
          ...closedChecks(content.known.closed),
          ...leftoversIn(content.known, owned),
          ...goneChecks(gone),
        ]),
    ...('problem' in subjects ? [notObserved('jobs', subjects)] : leftJobs(subjects.known, owned)),
  ];
  const none: Check = { check: 'leftovers', ok: true, message: 'none' };
  return [
    ...first,
    user,
    ...('problem' in commands ? [otherCommands] : []),
    udev.known
      ? { check: 'udev', ok: true, message: 'runs' }
      : {
          check: 'udev',
          ok: false,
          message:
            'does not run: /run/udev/control is not a socket, so no volume gets its persistent path',
          hint: 'Start it on the node: systemctl start systemd-udevd',
        },
    ...('problem' in system ? [notObserved('tools', system)] : judgeSystem(system.known)),
    ...('problem' in content
      ? []
      : spaceChecks(
          new Map(
            [...content.known.free].filter(
              ([directory]) => !gone.some((each) => each.directory === directory),
            ),
          ),
        )),
    ...('problem' in content ? [] : lvmChecks(content.known.lacksLvm)),
    ...('problem' in content ? [] : groupChecks(content.known.groups)),
    ...directoryChecks(checked),
    ...('problem' in content ? [] : missingStorage(node, content.known, cluster)),
    ...heldVolumes(node, deleting),
    ...(left.length === 0 ? [none] : left),
  ];
}

/** A user requested the pause: this is no problem. */
const paused = (node: string): Check => ({
  check: 'paused',
  ok: true,
  message: `its Node is paused, and nothing is written there. To resume it: ${resumeCommand('node', node)}`,
});

const otherCommands: Check = {
  check: 'commands',
  ok: false,
  message:
    'the commands that the account may run are not those of this version: some operations may be refused',
  hint: 'For ssh with sudo, write the output of stowage print sudoers to /etc/sudoers.d/stowage. For the forced command or Salt, install the module of this version.',
};

const notObserved = (
  check: string,
  { problem, hint }: Extract<Observation<unknown>, { problem: string }>,
): Check => ({
  check,
  ok: false,
  message: problem,
  ...(hint === undefined ? {} : { hint }),
});

/**
 * Reports provisioned Volumes without storage: it was removed, or the API server was restored to a
 * state before the removal.
 */
function missingStorage(node: string, content: NodeContent, { volumes }: ClusterFacts): Check[] {
  return madeOn(node, volumes).flatMap((volume): Check[] => {
    const missing = missingOf(volume, content);
    if (missing === undefined) return [];
    const { name } = volume.metadata;
    // The directory is reported instead; restoring the file would not help.
    if (isAway(volume, content)) return [];
    return [
      {
        check: `Volume ${name}`,
        ok: false,
        message: `it was provisioned here, and ${missing}`,
        hint: `Restore the storage. A common reason is an API server restored from a backup older than a deletion. If the data is not needed: stowage delete volume ${name}`,
      },
    ];
  });
}

const isAway = ({ status }: Volume, { directories }: NodeContent): boolean =>
  directories.some(
    (each) =>
      each.directory === dirname(status?.prepared?.paths[0] ?? '') &&
      refuseAway(each) !== undefined,
  );
/** Reports Volumes whose deletion waits for users of their device, as the daemon last observed. */
function heldVolumes(node: string, deleting: readonly Volume[]): Check[] {
  return deleting.flatMap(({ metadata, status }): Check[] => {
    const entry = status?.attachments?.find((each) => each.node === node);
    const { message = '' } = entry ?? {};
    const detail = readReason(entry?.detail);
    if (detail === undefined || entryOf(detail)?.cause !== 'DeviceInUse') return [];
    const command = detail.parameters.command ?? detail.parameters.look;
    return [
      {
        check: `Volume ${metadata.name}`,
        ok: false,
        message: `it is being deleted, and is not detached: ${message}`,
        ...(command === undefined
          ? {}
          : { hint: 'End that use if its content is not needed.', command }),
      },
    ];
  });
}

function missingOf(volume: Volume, { files, records, links }: NodeContent): string | undefined {
  const { metadata, spec, status } = volume;
  const [path = ''] = status?.prepared?.paths ?? [];
  const isFile = files.some(
    ({ folder, name, type }) => `${folder}/${name}` === path && type === 'f',
  );
  const recorded = records.some(({ uid }) => uid === metadata.uid);
  if (spec.sparseLoopDevice != null && !isFile) {
    return `its file ${path} is missing${recorded ? '' : ', and so are its records'}`;
  }
  // MetalK8s keeps no records: its storage is recognized by its link.
  return recorded || links.has(linkOfVolume(volume))
    ? undefined
    : 'the node has neither a record of it nor its device';
}
