import type { Probe, ProbeResult } from '../../nodes/job.ts';

/**
 * Form of a command that Stowage runs on nodes, and that not every implementation of its program
 * understands. The command writes nothing.
 */
export interface Form {
  /** Volumes or features that need it. */
  for: string;
  argv: readonly [program: string, ...string[]];
  /** Whole output without the last newline; any, if absent. */
  prints?: RegExp;
}

/** Devices and directories that every node has. */
const [NUL, ZERO, ROOT] = ['/dev/null', '/dev/zero', '/'];

/**
 * Forms that busybox 1.35 or uutils coreutils until 0.3.0 lack, or that observations read by
 * their parts. With --help, a program that knows the other options succeeds without doing anything.
 */
export const FORMS: readonly Form[] = [
  {
    for: 'all',
    argv: ['find', NUL, '-ignore_readdir_race', '-maxdepth', '0', '-printf', '%y|%s|%b|%C@\\n'],
    prints: /^c\|0\|0\|\d+\.\d{9,}$/,
  },
  {
    for: 'all',
    argv: ['stat', '-L', '-c', '%F|%t:%T', '--', NUL],
    prints: /^character special file\|1:3$/,
  },
  {
    for: 'sparse files',
    argv: ['stat', '-c', '%F|%s|%i|%b|%B', '--', ROOT],
    prints: /^directory\|\d+\|\d+\|\d+\|\d+$/,
  },
  {
    for: 'snapshots',
    argv: ['stat', '-c', '%s|%i|%z', '--', ROOT],
    prints: /^\d+\|\d+\|.*\d:\d\d\.\d{9}\b.*$/,
  },
  { for: 'sparse files', argv: ['stat', '-f', '-c', '%a|%S', '--', ROOT], prints: /^\d+\|\d+$/ },
  {
    for: 'sparse files',
    argv: ['readlink', '-m', '--', '/stowage-missing/file'],
    prints: /^\/stowage-missing\/file$/,
  },
  {
    for: 'mode Block',
    argv: ['od', '-A', 'n', '-t', 'x1', '-j', '512', '-N', '16', ZERO],
    prints: /^(?: 00){16}$/,
  },
  { for: 'onDelete Wipe', argv: ['cmp', '--ignore-initial=0:0', '--bytes=1', '--', ZERO, ZERO] },
  {
    for: 'onDelete Wipe',
    argv: [
      'dd',
      `if=${ZERO}`,
      `of=${NUL}`,
      'bs=1',
      'count=1',
      'conv=notrunc,nocreat',
      'status=none',
    ],
  },
  { for: 'all', argv: ['install', '-d', '-m', '0700', '--help'] },
  { for: 'all', argv: ['flock', '-x', '-w', '60', '--help'] },
  { for: 'all', argv: ['timeout', '-s', 'KILL', '10', 'true'] },
  { for: 'snapshots', argv: ['cp', '--reflink=auto', '--sparse=always', '--help'] },
  { for: 'snapshots', argv: ['timeout', '--foreground', '-k', '1', '10', 'true'] },
  { for: 'Images, Archives and Backups', argv: ['realpath', '-e', '--', ROOT], prints: /^\/$/ },
  {
    for: 'Images, Archives and Backups',
    argv: ['df', '-B1', '--output=avail', ROOT],
    prints: /^.+\n *\d+$/,
  },
];

/**
 * The dd of uutils coreutils before 0.4.0 fails with oflag=direct, since its buffer is not aligned
 * (EINVAL). No command shows this without a write to a device. GNU dd prints `dd (coreutils) 9.1`,
 * that of uutils coreutils `dd 0.0.30`, or `dd (uutils coreutils) 0.2.2` as in Ubuntu 25.10.
 */
const NOT_DIRECT = /^dd (?:\(uutils coreutils\) )?0\.[0-3]\.\d{1,9}$/m;
const DIRECT: Form = { for: 'onDelete Wipe of devices', argv: ['dd', 'oflag=direct'] };

const nameOf = ({ argv }: Form) => `form ${argv.join(' ')}`;

export const formProbes = (): Probe[] =>
  FORMS.map((form) => ({ name: nameOf(form), argv: form.argv }));

/** Exit statuses of a program that cannot run or is missing. */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);
const UNANSWERED: ProbeResult = { exit: 127, stdout: '', stderr: '' };

/** Maximum characters of a quoted line. */
const MOST_SAID = 200;

/** Form that a node's program does not understand. */
export interface Misunderstood extends Form {
  /** First line that the program printed, if any. */
  said: string | undefined;
}

/**
 * Returns the forms that the programs of a node do not understand, except for those of missing
 * tools. Pure.
 * @param results of `formProbes` and `toolProbes`
 */
export function misunderstood(results: ReadonlyMap<string, ProbeResult>): Misunderstood[] {
  const found = FORMS.flatMap((form): Misunderstood[] => {
    // A missing tool has a check of its own.
    if (CANNOT_RUN.has(results.get(form.argv[0])?.exit ?? 0)) return [];
    const { exit, stdout, stderr } = results.get(nameOf(form)) ?? UNANSWERED;
    if (exit === 0 && (form.prints?.test(stdout.trimEnd()) ?? true)) return [];
    // busybox prints its version and its usage after the message.
    const lines = (exit === 0 ? stdout : stderr).split('\n');
    const said = lines.find((line) => line.trim() !== '')?.trim();
    return [{ ...form, said: said?.slice(0, MOST_SAID) }];
  });
  const [version] = NOT_DIRECT.exec(results.get('dd')?.stdout ?? '') ?? [];
  return version === undefined ? found : [...found, { ...DIRECT, said: version }];
}
