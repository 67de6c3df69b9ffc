import { dirname } from 'node:path';
import { formatBytes } from '../../../api/quantity.ts';
import { subjectDirectory } from '../../../nodes/jobs-directory.ts';
import { quote, quoteAll } from '../../../nodes/quote.ts';
import { partitionsOf } from '../../../storage/block-devices.ts';
import { type Use, useOf } from '../../../storage/holders.ts';
import { isBacking, type NamedFile } from '../../../storage/node-check/files.ts';
import type { DeviceUsage, Intent, LoopFacts } from '../../../storage/types.ts';
import type { Check } from '../../lib/checks/report.ts';
import type { NodeContent } from './facts.ts';

const UID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const BACKING = new RegExp(`/(${UID})(?:\\.partial)?(?: \\(deleted\\))?$`);

/**
 * Returns leftovers on a node, whose UIDs no object has. Sorted by UID, in a safe order of removal:
 * records come last, since they identify the owner of the rest.
 */
export function leftoversIn(content: NodeContent, owned: ReadonlySet<string>): Check[] {
  const { users, records, intents, folders } = content;
  const files = content.files.filter(isBacking);
  const named = new Set([...files, ...records].map(({ uid }) => uid));
  const loops = users.loops.flatMap((loop) => {
    const uid = BACKING.exec(loop.backingFile)?.[1];
    // The directory may have been reached through a symbolic link; the kernel's path has none.
    const ours =
      uid !== undefined && (named.has(uid) || folders.includes(dirname(loop.backingFile)));
    return ours ? [{ uid, loop }] : [];
  });
  return [...new Set([...named, ...loops.map(({ uid }) => uid)])]
    .filter((uid) => !owned.has(uid))
    .sort()
    .flatMap((uid) => [
      ...loops.filter((each) => each.uid === uid).map(({ loop }) => leftLoop(uid, loop, users)),
      ...files.filter((file) => file.uid === uid).map(leftFile),
      ...leftRecords(
        uid,
        records.filter((record) => record.uid === uid),
        intents.get(uid),
      ),
    ]);
}

function leftLoop(uid: string, loop: LoopFacts, users: DeviceUsage): Check {
  const { name, backingFile } = loop;
  const devices = [loop, ...partitionsOf(name, users.devices)];
  const use = devices.map((device) => useOf(device, users)).find((found) => found !== undefined);
  const left = {
    check: 'leftover',
    ok: false,
    message: `/dev/${name}, the loop device of ${backingFile}; ${noVolume(uid)}`,
  };
  return use === undefined
    ? {
        ...left,
        hint: 'Detach it if no process has it open (check with fuser).',
        command: `losetup -d /dev/${name}`,
      }
    : { ...left, ...held(use) };
}

/** Returns how to end a use of the device, in place of how to remove the device. */
function held({ by, end, ended }: Use): Pick<Check, 'hint' | 'command'> {
  const command = 'command' in ended ? ended.command : 'look' in ended ? ended.look : undefined;
  return {
    hint: `It is in use: ${by}. ${command === undefined ? end : 'End that use if its content is not needed, then check again.'}`,
    ...(command === undefined ? {} : { command }),
  };
}

function leftFile({ folder, name, uid, type, sizeBytes }: NamedFile): Check {
  const path = `${folder}/${name}`;
  const check = { check: 'leftover', ok: false };
  if (type !== 'f') {
    return {
      ...check,
      message: `${path}, which is not a regular file; ${noVolume(uid)}`,
      hint: 'Check what it is, then remove or move it.',
    };
  }
  const size = `${formatBytes(sizeBytes)}${sizeBytes < 1024n ? ' bytes' : ''}`;
  const what = name === uid ? 'a backing file' : 'an unfinished backing file';
  return {
    ...check,
    message: `${path}, ${what} of ${size}; ${noVolume(uid)}`,
    hint: 'It may hold data: move it away to keep it. The command removes it unless a loop device has it.',
    // An empty answer counts only if losetup succeeded.
    command: `used=$(losetup -j ${quote(path)}) && [ -z "$used" ] && ${quoteAll(['rm', '--', path])}`,
  };
}

function leftRecords(
  uid: string,
  records: readonly NamedFile[],
  intent: Intent | undefined,
): Check[] {
  if (records.length === 0) return [];
  const place = intent?.device?.path ?? intent?.file;
  const of =
    place === undefined
      ? ''
      : ` of ${intent?.device === undefined ? 'the file' : 'the device'} ${place}`;
  const kept = intent?.device === undefined ? '' : keptOn(intent.device.identity);
  return [
    {
      check: 'leftover',
      ok: false,
      message: `records${of}; ${noVolume(uid)}`,
      hint: `Remove them last: they identify the owner of the rest.${kept}`,
      command: quoteAll([
        'rm',
        '--',
        ...records.map(({ folder, name }) => `${folder}/${name}`).sort(),
      ]),
    },
  ];
}

const keptOn = (identity: string): string =>
  identity.startsWith('vg=')
    ? ' The logical volume stays, if there is one; lvs shows it.'
    : ' The content of the device stays; wipefs -n shows it.';

/** Reports the node's job directories whose Volumes are gone. */
export const leftJobs = (subjects: readonly string[], owned: ReadonlySet<string>): Check[] =>
  subjects
    .filter((uid) => new RegExp(`^${UID}$`).test(uid) && !owned.has(uid))
    .sort()
    .map((uid) => {
      const directory = subjectDirectory(uid);
      return {
        check: 'leftover',
        ok: false,
        message: `${directory}, jobs; ${noVolume(uid)}`,
        hint: 'The command removes them unless one runs. A reboot removes them, too.',
        command: quoteAll(['flock', '-n', `${directory}/lock`, 'rm', '-r', '--', directory]),
      };
    });

const noVolume = (uid: string): string => `no Volume of this cluster has the UID ${uid}`;
