import type { ProbeResult } from '../../src/nodes/job.ts';
import { result } from './fake-executor.ts';

/** Output of GNU coreutils 9.1, findutils 4.9 and diffutils 3.8, by the beginning of a command. */
const PRINTED: readonly (readonly [command: string, printed: string])[] = [
  ['find /dev/null', 'c|0|0|1795882045.4433372170\n'],
  ['stat -L -c %F|%t:%T', 'character special file|1:3\n'],
  ['stat -c %F|', 'directory|4096|2|8|512\n'],
  ['stat -c %s|%i|%z', '4096|2|2026-11-28 16:07:25.443337217 +0000\n'],
  ['stat -f', '16727095|4096\n'],
  ['readlink', '/stowage-missing/file\n'],
  ['od', ` ${Array(16).fill('00').join(' ')}\n`],
  ['realpath', '/\n'],
  ['df', '      Avail\n68514177024\n'],
];

/** Answers a command that shows whether a node's programs understand the forms in use. */
export function understood(argv: readonly string[]): ProbeResult {
  const command = argv.join(' ');
  return result(0, PRINTED.find(([beginning]) => command.startsWith(beginning))?.[1] ?? '');
}
