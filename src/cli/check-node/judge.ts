import type { Volume } from '../../api/volume.ts';
import { TOOLS } from '../../storage/node-check/tools.ts';
import {
  type ClusterFacts,
  type Look,
  linkOfVolume,
  madeOn,
  type NodeContent,
  type NodeFacts,
  ownedUids,
} from './facts.ts';
import { leftJobs, leftoversIn } from './leftovers.ts';
import type { Check } from './report.ts';

/** What a node has and lacks. Pure. */
export function judge(node: string, facts: NodeFacts, cluster: ClusterFacts): Check[] {
  const { udev, missingTools, content, subjects } = facts;
  const reachable: Check = { check: 'reachable', ok: true, message: 'it answers' };
  if ('problem' in udev) return [reachable, notLooked('user', udev)];
  const user: Check = { check: 'user', ok: true, message: 'runs programs as root' };
  const owned = ownedUids(cluster);
  const left = [
    ...('problem' in content ? [notLooked('leftovers', content)] : leftoversIn(content.known, owned)),
    ...('problem' in subjects ? [notLooked('jobs', subjects)] : leftJobs(subjects.known, owned)),
  ];
  const none: Check = { check: 'leftovers', ok: true, message: 'none' };
  return [
    reachable,
    user,
    udev.known
      ? { check: 'udev', ok: true, message: 'runs' }
      : {
          check: 'udev',
          ok: false,
          message: 'does not run: /run/udev/control is no socket, and no volume gets its persistent path',
          hint: 'Start it on the node: systemctl start systemd-udevd',
        },
    ...('problem' in missingTools
      ? [notLooked('tools', missingTools)]
      : TOOLS.map(({ name, of, package: from }): Check => {
          const message = `for ${of}`;
          return missingTools.known.some((tool) => tool.name === name)
            ? { check: name, ok: false, message: `missing, ${message}`, hint: `Install ${from} on the node.` }
            : { check: name, ok: true, message };
        })),
    ...('problem' in content ? [] : missingStorage(node, content.known, cluster)),
    ...(left.length === 0 ? [none] : left),
  ];
}

const notLooked = (check: string, { problem, hint }: Extract<Look<unknown>, { problem: string }>): Check => ({
  check,
  ok: false,
  message: problem,
  ...(hint === undefined ? {} : { hint }),
});

/** Volumes that were made and are not there: someone removed them, or the API server forgot that it had it done. */
function missingStorage(node: string, content: NodeContent, { volumes }: ClusterFacts): Check[] {
  return madeOn(node, volumes).flatMap((volume): Check[] => {
    const missing = missingOf(volume, content);
    if (missing === undefined) return [];
    const { name } = volume.metadata;
    return [
      {
        check: `Volume ${name}`,
        ok: false,
        message: `it was made here, and ${missing}`,
        hint: `So it is after an API server was restored to before a delete. Bring the storage back; or, if the data is given up: stowage delete volume ${name}`,
      },
    ];
  });
}

function missingOf(volume: Volume, { files, records, links }: NodeContent): string | undefined {
  const { metadata, spec, status } = volume;
  const [path = ''] = status?.prepared?.paths ?? [];
  const isFile = files.some(({ folder, name, type }) => `${folder}/${name}` === path && type === 'f');
  const recorded = records.some(({ uid }) => uid === metadata.uid);
  if (spec.rawBlockDevice == null && !isFile) {
    return `its file ${path} is missing${recorded ? '' : ', and so are its records'}`;
  }
  // MetalK8s keeps no records: what it made is known by its link.
  return recorded || links.has(linkOfVolume(volume))
    ? undefined
    : 'the node has neither a record of it nor its device';
}
