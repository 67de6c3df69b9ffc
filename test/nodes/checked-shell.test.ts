import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import type { Shell } from '../../src/nodes/transport/shell.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Shells on loopback: their `ssh` runs commands on this machine. */
let folder: { path: string; remove(): Promise<void> };
const { PATH, XDG_RUNTIME_DIR } = process.env;

beforeAll(async () => {
  folder = await temporaryDirectory('shell');
  const ssh = join(folder.path, 'ssh');
  await writeFile(ssh, '#!/bin/sh\ncase $* in *"-O exit"*) exit 0 ;; esac\nexec sh\n');
  await chmod(ssh, 0o755);
  process.env.PATH = `${folder.path}:${PATH}`;
  process.env.XDG_RUNTIME_DIR = folder.path;
});

afterAll(async () => {
  process.env.PATH = PATH;
  if (XDG_RUNTIME_DIR === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
  await folder.remove();
});

const SHELLS: [string, (check: (node: string) => void) => Shell][] = [
  ['local', (check) => createLocalShell(['n1'], check)],
  ['ssh', (check) => createSshShell({ addressOf: () => ({}), check })],
];

test.each(SHELLS)(
  '%s: does not run the script if the right to act is lost while the shell starts',
  async (kind, create) => {
    const file = join(folder.path, `${kind}.log`);
    await writeFile(file, '');
    let calls = 0;
    let allowed = 2;
    const shell = create((node) => {
      calls += 1;
      if (calls > allowed) throw new NodeError('not-ours', node, 'no right');
    });
    expect(await shell.run('n1', `printf a >>'${file}'; printf done`, 5000)).toBe('done');
    calls = 0;
    allowed = 1;
    await expect(shell.run('n1', `printf b >>'${file}'`, 5000)).rejects.toMatchObject({
      message: 'no right',
    });
    expect(calls).toBe(2);
    calls = 0;
    allowed = 0;
    await expect(shell.run('n1', `printf c >>'${file}'`, 5000)).rejects.toMatchObject({
      message: 'no right',
    });
    expect(calls).toBe(1);
    expect(await readFile(file, 'utf8')).toBe('a');
    await shell.close();
  },
);
