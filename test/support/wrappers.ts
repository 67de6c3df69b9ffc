import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PATH = [
  ...new Set([...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/bin', '/sbin', '/bin']),
];

/** Programs that are called by the same names, in front of the real ones on a PATH. */
export interface Wrappers {
  /** A value for PATH, of sshd (`startSshd({env: {PATH: wrappers.path}})`) or of this process. */
  path: string;
  /** Every call so far, in the order in which they began. */
  calls(): Promise<Call[]>;
  /**
   * The next crash. It happens once, then programs run as usual again. Told while one is due, it replaces that.
   *
   * "The shell" is the parent of the program: of a step's or a precondition's program, the shell of the job.
   * It is killed with SIGKILL, so that it writes nothing any more.
   */
  crash(when: Crash): Promise<void>;
  /** No crash was told, or it has happened. Takes one that is still due back. */
  happened(): Promise<boolean>;
  /** Removes all; programs must no longer be called through `path`. */
  remove(): Promise<void>;
}

export interface Crash {
  /** Its name, or `*` for any that is wrapped. */
  program: string;
  /** Which call of it from now on, counted from 1. */
  call: number;
  /**
   * before: the shell is killed and the program does not run.
   * after: the program runs to its end, then the shell is killed.
   * inside: the program runs for `ms`, then the shell and it are killed (it may have ended before).
   */
  at: 'before' | 'after' | 'inside';
  ms?: number;
  /** Calls that do not count, as an extended regular expression for `PROGRAM PID TIME ARGUMENTS`: how often a program looks depends on the machine. */
  except?: string;
}

export interface Call {
  program: string;
  /** As one line, with spaces between. */
  args: string;
  pid: number;
  /** In ms since the epoch. */
  time: number;
}

/**
 * Small programs that note each call, can make a crash of it, and become the real program.
 * @throws Error where one of the programs is not installed
 */
export async function makeWrappers({
  programs,
}: {
  programs: readonly string[];
}): Promise<Wrappers> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-wrappers-'));
  const bin = join(folder, 'bin');
  const log = join(folder, 'calls');
  await mkdir(bin);
  await writeFile(log, '');
  await writeFile(join(folder, 'wrap'), wrap());
  for (const program of programs) {
    await writeFile(
      join(bin, program),
      `#!/bin/sh\nfolder='${folder}' program='${program}' real='${find(program)}'\n. '${folder}/wrap'\n`,
    );
    await chmod(join(bin, program), 0o755);
  }

  async function calls(): Promise<Call[]> {
    const lines = (await readFile(log, 'utf8')).trim().split('\n').filter(Boolean);
    return lines.map((line) => {
      const [program = '', pid, nanoseconds, ...args] = line.split(' ');
      return { program, args: args.join(' '), pid: Number(pid), time: Number(nanoseconds) / 1e6 };
    });
  }

  return {
    path: [bin, ...PATH].join(':'),
    calls,
    async crash({ program, call, at, ms = 0, except = NOTHING }) {
      const before = (await calls()).filter(
        (each) =>
          (program === '*' || each.program === program) &&
          !new RegExp(except).test(`${each.program} ${each.pid} 0 ${each.args}`),
      ).length;
      await writeFile(
        join(folder, 'crash.new'),
        `${program} ${before + call} ${at} ${ms / 1000} ${except}\n`,
      );
      await rename(join(folder, 'crash.new'), join(folder, 'crash'));
    },
    async happened() {
      const due = join(folder, 'crash');
      if (!existsSync(due)) return true;
      await rm(due, { force: true });
      return false;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Matches no call. */
const NOTHING = '^$';

/**
 * What every wrapper does, with `folder`, `program` and `real` set. Its process becomes the real program, so that
 * pid and parent are those of the program. The wrapped programs are not used here, but by their full names.
 * The files that are open in a job (7 is its lock of a device) stay so in the program.
 */
const wrap = () => `exec 5>"$folder/lock"
${find('flock')} 5
printf '%s %s %s %s\\n' "$program" $$ "$(${find('date')} +%s%N)" "$*" >>"$folder/calls"
at=
if [ -e "$folder/crash" ]; then
  read -r which call when seconds except <"$folder/crash"
  number=0
  case $which in
    '*' | "$program")
      if ! printf '%s\\n' "$program $$ 0 $*" | ${find('grep')} -q -E -e "$except"; then
        of="^$program "
        [ "$which" = "$program" ] || of=.
        number=$(${find('grep')} -e "$of" "$folder/calls" | ${find('grep')} -c -v -E -e "$except")
      fi ;;
  esac
  if [ "$number" = "$call" ]; then
    ${find('rm')} "$folder/crash"
    at=$when
  fi
fi
exec 5>&-
case $at in
  before) kill -KILL $PPID; exit 137 ;;
  after) "$real" "$@"; kill -KILL $PPID; exit 137 ;;
  inside)
    exec 6<&0
    "$real" "$@" <&6 &
    ${find('sleep')} "$seconds"
    kill -KILL $PPID $!
    exit 137 ;;
esac
exec "$real" "$@"
`;

function find(program: string): string {
  for (const folder of PATH) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {} // Not in this one.
  }
  throw new Error(`${program} is not installed: not found in ${PATH.join(':')}`);
}
