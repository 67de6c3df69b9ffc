import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeClient } from '../../../src/kube/types.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { until } from '../until.ts';
import { readPage } from './page.ts';

/** Expected result of a command or a block of a page. */
export interface Typed {
  /**
   * Commands to run instead, with values for the placeholders of the page. `$FOLDER` is a directory
   * of the story.
   */
  as?: readonly string[];
  /** Default: 0. */
  exit?: number | readonly number[];
  /** Expected output; for a command that goes on, its log. */
  says: RegExp;
  /**
   * Set if the command runs until a SIGTERM, which it must handle: at once, or at the end of the
   * story.
   */
  goesOn?: 'until it says so' | 'to the end';
  /** Command whose input is the block, for a block that is not applied. */
  input?: string;
}

/** Test that runs the command: its file must exist and contain this text. */
export interface Elsewhere {
  runBy: string;
  has: string;
}

export interface World {
  client: KubeClient;
  /** Environment of the shell: access to the cluster and the nodes. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Commands of a page, in the order in which they run, in their own world. */
export interface Story {
  path: string;
  world: () => Promise<World>;
  /** Preconditions of the page, by command. */
  before?: Record<string, Typed>;
  /** Expected results by command of the page, or by `blockKey` of a block. */
  typed: Record<string, Typed | Elsewhere>;
}

/** Applies, at its place among the commands, each manifest that has no row of its own. */
export const APPLY = 'kubectl apply -f -';
export const applied: Typed = { says: / (created|configured|unchanged)/ };
export const watches: Typed = { says: /"msg":"watching"/, goesOn: 'until it says so' };
export const shows = (says: RegExp, as?: string): Typed => ({ says, ...(as && { as: [as] }) });
/** Expects the URL of a page, which is served until a SIGTERM. */
export const servesPage = (as: string): Typed => ({
  says: /^http:\/\/127\.0\.0\.1:\d+\/#token=/,
  goesOn: 'until it says so',
  as: [as],
});
/** Expects help only: the page names the command without arguments. */
export const named = (command: string, says = /Usage|usage|Options|OPTIONS/): Typed => ({
  as: [`${command} --help`],
  says,
});
/** Loop devices of other tests' nodes on this kernel may be reported as leftovers. */
export const checksNode = (): Typed => ({
  says: /reachable[\s\S]*it answers[\s\S]*(leftovers +OK|leftover +problem +\/dev\/loop)/,
  exit: [0, 5],
});
/**
 * Checks that a script of package.json exists. The scripts run tests or measurements, which a test
 * cannot start.
 */
export const script = (name: string): Typed => ({
  as: [`node -p 'require("./package.json").scripts["${name}"]'`],
  says: /^(?!undefined$)./,
});

/** Returns the key of a block with its own row: its first line, which must be unique. */
export const blockKey = (block: string): string => `block ${block.trim().split('\n')[0]}`;

/** Timeout (ms), only for commands that hang. */
const COMMAND_WITHIN = 120_000;

/** Compares the commands and blocks of a page with those of its stories. */
export function expectAllCovered(path: string, stories: readonly Story[]): void {
  const page = readPage(path);
  const rows = stories
    .filter((story) => story.path === path)
    .flatMap(({ typed }) => Object.keys(typed));
  const told = [...page.commands, ...page.files.map(blockKey)];
  const own = page.manifests.filter((block) => rows.includes(blockKey(block)));
  const applying = page.manifests.length > own.length ? [APPLY] : [];
  expect([...new Set(rows)].sort()).toEqual(
    [...new Set([...told, ...own.map(blockKey), ...applying])].sort(),
  );
}

/**
 * Returns the expected exit status: of several, the actual one if it is allowed, else the first.
 */
const expectedOf = (exit: number | readonly number[], is: number | undefined) =>
  typeof exit === 'number' ? exit : (exit.find((each) => each === is) ?? exit[0]);

/** Runs all commands of a story. */
export function describeStory({ path, world, before = {}, typed }: Story, name: string): void {
  describe(`${path}, ${name}`, () => {
    const page = readPage(path);
    const blocks = new Map(
      [...page.manifests, ...page.files].map((block) => [blockKey(block), block]),
    );
    const toApply = page.manifests.filter((block) => !(blockKey(block) in typed));
    const going: { kill(signal: 'SIGTERM'): boolean; ended: Promise<number | undefined> }[] = [];
    let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
    let env: Record<string, string>;
    let stop: World['stop'] | undefined;

    const lines = Object.entries({ ...before, ...typed }).flatMap(
      ([line, how]): [string, Typed & { stdin: string }][] => {
        if ('runBy' in how) return [];
        if (line === APPLY) return toApply.map((stdin) => [line, { ...how, stdin }]);
        const stdin = blocks.get(line) ?? '';
        return (how.as ?? [how.input ?? line]).map((real) => [real, { ...how, stdin }]);
      },
    );
    if (lines.length > 0) {
      beforeAll(async () => {
        folder = await temporaryDirectory('docs');
        const bin = join(folder.path, 'bin');
        await mkdir(bin);
        for (const each of ['stowage', 'kubectl-stowage', 'kubectl_complete-stowage'])
          await symlink(resolve('bin', each), join(bin, each));
        const there = await world();
        stop = there.stop;
        env = {
          HOME: folder.path,
          ...there.env,
          FOLDER: folder.path,
          PATH: `${bin}:${process.env.PATH}`,
        };
      });
      afterAll(async () => {
        for (const each of going) each.kill('SIGTERM');
        const ends = await Promise.all(going.map(({ ended }) => ended));
        await stop?.();
        await folder?.remove();
        expect(ends).toEqual(ends.map(() => 0));
      });

      test.each(lines)('$ %s', async (line, { exit = 0, says, goesOn, stdin }) => {
        if (goesOn === undefined) {
          const how = {
            env,
            input: stdin,
            reject: false,
            all: true,
            timeout: COMMAND_WITHIN,
          } as const;
          const { all, exitCode } = await execa('bash', ['-c', line], how);
          expect({ all, exitCode }).toEqual({
            all: expect.stringMatching(says),
            exitCode: expectedOf(exit, exitCode),
          });
          return;
        }
        const log = join(folder.path, `${going.length}.log`);
        await writeFile(log, '');
        const command = `exec ${line.replace(/ &$/, '')} >>${log} 2>&1`;
        const running = execa('bash', ['-c', command], { env, reject: false });
        let ended = false;
        void running.then(() => {
          ended = true;
        });
        const told = () => readFileSync(log, 'utf8');
        await until(`${line} says ${says}`, async () =>
          ended || says.test(told()) ? true : undefined,
        );
        expect(told()).toMatch(says);
        if (goesOn === 'to the end') {
          going.push({
            kill: (signal) => running.kill(signal),
            ended: running.then(({ exitCode }) => exitCode),
          });
          return;
        }
        running.kill('SIGTERM');
        expect((await running).exitCode).toBe(expectedOf(exit, (await running).exitCode));
      });
    }

    const elsewhere = Object.entries(typed).flatMap(([line, how]) =>
      'runBy' in how ? [[line, how.runBy, how.has] as const] : [],
    );
    if (elsewhere.length > 0) {
      test.each(elsewhere)('$ %s is run by %s', (_line, file, has) => {
        expect({ file, has: readFileSync(file, 'utf8').includes(has) }).toEqual({
          file,
          has: true,
        });
      });
    }
  });
}
