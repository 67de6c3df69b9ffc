import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PATH = [
  ...new Set([...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/bin', '/sbin', '/bin']),
];

/** Programs with the names of the real ones, which they precede on a PATH. */
export interface Wrappers {
  /** Value of PATH, for sshd (`startSshd({env: {PATH: wrappers.path}})`) or for this process. */
  path: string;
  /** Returns all calls so far, in the order of their starts. */
  calls(): Promise<Call[]>;
  /**
   * Sets the next crash, in place of a pending one. The crash happens once; afterwards programs run
   * normally.
   *
   * "The shell" is the parent of the program: for programs of steps and preconditions, the shell of
   * the job. SIGKILL prevents further writes of the shell.
   */
  crash(when: Crash): Promise<void>;
  /** Reports whether no crash is pending, and cancels a pending one. */
  happened(): Promise<boolean>;
  /** Removes all wrappers. No program may be called through `path` any more. */
  remove(): Promise<void>;
}

export interface Crash {
  /** Name of the program, or `*` for any wrapped one. */
  program: string;
  /** Number of the call, counted from 1 from now on. */
  call: number;
  /**
   * before: the shell is killed and the program does not run.
   * after: the program runs to its end, then the shell is killed.
   * inside: the program runs for `ms`, then the shell and it are killed (it may have ended before).
   */
  at: 'before' | 'after' | 'inside';
  ms?: number;
  /**
   * Calls that do not count, as an extended regular expression for `PROGRAM PID TIME ARGUMENTS`.
   * The number of observing calls depends on the machine.
   */
  except?: string;
}

export interface Call {
  program: string;
  /** Arguments in one line, separated by spaces. */
  args: string;
  pid: number;
  /** Milliseconds since the epoch. */
  time: number;
}

/**
 * Creates small programs that log each call, may turn it into a crash, and become the real program.
 * @throws Error if a program is not installed
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

/** Pattern that matches no call. */
const NOTHING = '^$';

/**
 * Returns the common script of all wrappers, which set `folder`, `program` and `real`. The process
 * of a wrapper becomes the real program, with the same PID and parent. The script calls wrapped
 * programs by their full paths. Files that are open in a job (7 is the lock of a device) remain
 * open in the program.
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
    } catch {} // Not in this directory.
  }
  throw new Error(`${program} is not installed: not found in ${PATH.join(':')}`);
}
