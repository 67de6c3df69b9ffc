import { createHash } from 'node:crypto';
import { FS_TYPES } from '../../api/file-systems.ts';
import adopt from './adopt.sh';
import archive from './archive.sh';
import backup from './backup.sh';
import backupTo from './backup-to.sh';
import content from './content.sh';
import curl from './curl.sh';
import ext4Uuid from './ext4-uuid.sh';
import fetch from './fetch.sh';
import fillNamespace from './fill-namespace.sh';
import forgetThin from './forget-thin.sh';
import freeze from './freeze.sh';
import grow from './grow.sh';
import image from './image.sh';
import jail from './jail.sh';
import lvmUuid from './lvm-uuid.sh';
import mount from './mount.sh';
import mountNamespace from './mount-namespace.sh';
import scratch from './scratch.sh';
import sourcesConf from './sources-conf.sh';
import thin from './thin.sh';
import thinRoom from './thin-room.sh';
import unwritten from './unwritten.sh';
import xfsUuid from './xfs-uuid.sh';

/** Files that scripts include, by their names. */
const INCLUDED: Readonly<Record<string, string>> = {
  'backup-to.sh': backupTo,
  'content.sh': content,
  'curl.sh': curl,
  'fetch.sh': fetch,
  'fill-namespace.sh': fillNamespace,
  'forget-thin.sh': forgetThin,
  'jail.sh': jail,
  'mount.sh': mount,
  'mount-namespace.sh': mountNamespace,
  'scratch.sh': scratch,
  'sources-conf.sh': sourcesConf,
  'thin-room.sh': thinRoom,
  'unwritten.sh': unwritten,
};

/** Scripts that nodes run as root, by the name that each sees as `$0`. */
export const SCRIPTS = {
  'stowage-adopt': scriptOf(adopt),
  'stowage-archive': scriptOf(archive),
  'stowage-backup': scriptOf(backup),
  'stowage-ext4-uuid': scriptOf(ext4Uuid),
  'stowage-freeze': scriptOf(freeze),
  'stowage-grow': scriptOf(grow),
  'stowage-image': scriptOf(image),
  'stowage-lvm-uuid': scriptOf(lvmUuid),
  'stowage-thin': scriptOf(thin),
  'stowage-xfs-uuid': scriptOf(xfsUuid),
};

export type ScriptName = keyof typeof SCRIPTS;

/**
 * Returns the text for `sh -c` as one function, so that a truncated text does nothing. Removes
 * comments and indentation, and inserts included files and the types of file systems.
 */
function scriptOf(file: string): string {
  const lines = ['run() {', ...commandsOf(file), '}', 'run "$@"'];
  return lines.join('\n').replaceAll('@FS_TYPES@', FS_TYPES.join(','));
}

function commandsOf(file: string): string[] {
  const lines = file.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const [, name] = /^\. \.\/(.+)$/.exec(line) ?? [];
      return name === undefined ? [line] : commandsOf(INCLUDED[name] as string);
    });
}

/**
 * Returns the text that sudo runs in place of a script. The launcher takes the script as its first
 * argument, and runs it only if the digest matches. sudo has no pattern of more than 1,024
 * characters. The launcher is one function, too. The script finds its own text in `text`.
 */
export function launcherOf(name: string, script: string): string {
  const digest = createHash('sha256').update(script).digest('hex');
  return [
    'run() {',
    `[ "$(printf %s "$1" | sha256sum | cut -c 1-64)" = ${digest} ] || exit 2;`,
    'text=$1; shift; export text;',
    `exec sh -c 'eval "$text"' ${name} "$@";`,
    '}; run "$@"',
  ].join(' ');
}

/** Returns the command that runs a script with arguments. */
export const scriptArgv = (name: ScriptName, ...words: readonly string[]): string[] => [
  ...['sh', '-c', launcherOf(name, SCRIPTS[name]), name, SCRIPTS[name]],
  ...words,
];
