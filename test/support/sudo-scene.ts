import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { Executor, Job, Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { makeSudoUser, type SudoUser } from './sudo-user.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';

/** Limit (ms) for a job that never ends. */
export const WITHIN = 120_000;

export const step = (...argv: string[]): Step => ({
  name: `run ${argv[0]}`,
  argv,
  preconditions: [],
});

/**
 * Registers the hooks of a block: one user who is not root for all its tests, and a new subject of
 * jobs for each test.
 */
export function sudoScene() {
  const scene = { subject: '', directory: '' } as {
    user: SudoUser;
    directory: string;
    subject: string;
  };
  const path = process.env.PATH;
  let removeDirectory: (() => Promise<void>) | undefined;
  let stopUdev: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    const folder = await temporaryDirectory('sudo-programs');
    removeDirectory = folder.remove;
    scene.directory = folder.path;
    await chmod(scene.directory, 0o755);
    scene.user = await makeSudoUser();
  });
  afterAll(async () => {
    await scene.user?.remove();
    await removeDirectory?.();
    await stopUdev?.();
  });
  beforeEach(() => {
    scene.subject = randomUUID();
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  return Object.assign(scene, {
    transports: [
      [
        'local',
        () => {
          process.env.PATH = `${scene.user.bin}:${path}`;
          return createShellExecutor(createLocalShell(['n1']));
        },
      ],
      [
        'ssh',
        () =>
          createShellExecutor(
            createSshShell({ configFile: scene.user.sshd.configFile, addressOf: () => ({}) }),
          ),
      ],
    ] as [string, () => Executor][],
    job: (...steps: Step[]): Job => ({ key: { subject: scene.subject, id: 'a' }, steps }),
    /** Writes a program that the user may run as root. */
    async program(name: string, text: string, rule = 'NOPASSWD:'): Promise<string> {
      const file = join(scene.directory, name);
      await writeFile(file, `#!/bin/sh\n${text}\n`);
      await chmod(file, 0o755);
      await scene.user.allow([`USER ALL = (root) ${rule} ${file}`]);
      return file;
    },
  });
}

/** Returns the error of the work. Rejects if the work does not throw. */
export const error = (work: Promise<unknown>) =>
  work.then(
    (value) => Promise.reject(new Error(`no error, but ${JSON.stringify(value)}`)),
    (thrown: unknown) => thrown,
  );
