import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor } from '../../src/nodes/job.ts';
import { reach, startGuarded } from '../support/guarded.ts';
import { KINDS, kindCases, someKinds } from '../support/kind-cases.ts';
import { type Kinds, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { refusalCases } from '../support/refusal-cases.ts';
import { describeAsRoot } from '../support/root.ts';
import type { Sshd } from '../support/sshd.ts';

describeAsRoot('ssh to a node where a key has the forced command', () => {
  let kinds: Kinds;
  let sshd: Sshd;
  let executor: Executor;
  let listed: string;

  beforeAll(async () => {
    kinds = await setUpKinds();
    listed = (await kinds.disk()).path;
    await mkdir(join(kinds.folder, 'sparse'), { mode: 0o700 });
    const list = `node n1\ndirectory ${kinds.folder}/sparse\ndevice ${listed}\n`;
    ({ sshd, executor } = await startGuarded(kinds.folder, list));
  });
  afterEach(async () => {
    for (const subject of await executor.subjects('n1')) {
      if (subject.startsWith('refused-')) await executor.purge('n1', subject);
    }
  });
  afterAll(async () => {
    await executor?.close();
    await sshd?.stop();
    await kinds?.clean();
    await kinds?.stop();
  });

  refusalCases(() => ({ kinds, executor, listed }));

  const exists = async (path: string) =>
    (await execa('test', ['-e', path], { reject: false })).exitCode === 0;
  const ssh = (args: string[], input = '') =>
    execa('ssh', ['-F', sshd.configFile, '-T', ...args], { input, reject: false });

  test.each<[string, (marker: string) => ReturnType<typeof ssh>]>([
    ['a command', (marker) => ssh(['n1', 'touch', marker])],
    ['a shell', (marker) => ssh(['n1'], `touch ${marker}\n`)],
    ['a script', (marker) => ssh(['n1', 'sh'], `touch ${marker}\n`)],
    ['a file transfer', (marker) => ssh(['n1', 'scp', '-t', marker], 'C0644 1 x\nx\0')],
  ])('%s is refused by the forced command', async (_what, attempt) => {
    const marker = join(kinds.folder, 'marker');
    const { exitCode, stderr, stdout } = await attempt(marker);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('this key is only for `stowage --ssh-guard`, and runs no commands');
    expect(await exists(marker)).toBe(false);
  });

  test.each<[string, string[], string]>([
    ['a terminal', ['-tt', 'n1'], 'PTY allocation request failed'],
    ['a forwarded connection', ['-W', '127.0.0.1:1', 'n1'], 'administratively prohibited'],
  ])('%s is refused by sshd', async (_what, args, said) => {
    const marker = join(kinds.folder, 'marker');
    const { exitCode, stderr } = await ssh(args, `touch ${marker}\n`);
    expect([exitCode, stderr]).toEqual([255, expect.stringContaining(said)]);
    expect(await exists(marker)).toBe(false);
  });

  test('a request for another node is refused', async () => {
    const config = join(kinds.folder, 'ssh_config');
    await writeFile(
      config,
      (await readFile(sshd.configFile, 'utf8')).replace('Host n1', 'Host n1 n2'),
    );
    const known = join(sshd.folder, 'known_hosts');
    await writeFile(
      known,
      (await readFile(known, 'utf8')).replaceAll(/^n1 (.*)$/gm, 'n1 $1\nn2 $1'),
    );
    const other = reach(config);
    try {
      await expect(other.subjects('n2')).rejects.toThrow('this machine is n1, not n2');
    } finally {
      await other.close();
    }
  });
});

describeAsRoot(
  'every kind of volume over ssh with the forced command, with what its node allows',
  () => {
    let kinds: Kinds;
    let sshd: Sshd;
    let executor: Executor;
    beforeAll(async () => {
      kinds = await setUpKinds();
      const list = `node n1\ndirectory ${kinds.folder}\ndevice /dev/loop[0-9]*\n`;
      ({ sshd, executor } = await startGuarded(kinds.folder, list));
    });
    afterEach(() => kinds.clean());
    afterAll(async () => {
      await executor?.close();
      await sshd?.stop();
      await kinds?.stop();
    });

    kindCases(
      'ssh with the forced command',
      () => kinds,
      () => executor,
      EVERY_CASE ? KINDS : someKinds(2),
    );
  },
);
