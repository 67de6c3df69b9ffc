import { lstat, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nameProbe } from '../../src/cli/node/sudoers/name.ts';
import type { Executor, Job } from '../../src/nodes/job.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carryOut } from '../support/carry-out.ts';
import { leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { SPARSE } from '../support/sudo-commands.ts';
import { step, sudoScene, WITHIN } from '../support/sudo-scene.ts';
import { until } from '../support/until.ts';

describeAsRoot('programs of a user other than root', () => {
  const sudo = sudoScene();

  describe.each(sudo.transports)('over %s', (_, connect) => {
    let executor: Executor;
    beforeEach(() => {
      executor = connect();
    });
    afterEach(async () => {
      await executor.purge('n1', sudo.subject);
      await executor.close();
    });

    test('the sample of sudoers allows the whole life of a volume', async () => {
      await sudo.user.allow([]);
      const uid = sudo.subject;
      const desired: DesiredSparse = {
        type: 'sparse',
        uid,
        name: 'data1',
        mode: 'Filesystem',
        file: `${SPARSE}/${uid}`,
        sizeBytes: 16n << 20n,
        fs: {
          type: 'ext4',
          options: [
            '-m',
            '0',
            '-E',
            'nodiscard,lazy_itable_init=0',
            '-O',
            '^has_journal',
            '-L',
            'data',
          ],
        },
        recorded: false,
        onDelete: 'Delete',
        onDemand: false,
        readOnly: false,
        shared: false,
        kubeletRoot: '/var/lib/kubelet',
      };
      try {
        const prepared = await carryOut(executor, 'n1', 'provision', desired);
        expect(prepared).toMatchObject({
          done: { sizeBytes: desired.sizeBytes },
          link: expect.stringMatching(/^7:/),
        });
        expect(await carryOut(executor, 'n1', 'detach', desired)).toMatchObject({
          link: undefined,
        });
        const present = await carryOut(executor, 'n1', 'attach', desired);
        expect(present).toMatchObject({ link: expect.stringMatching(/^7:/) });
        expect((await lstat(desired.file)).uid).toBe(0);
        expect(await carryOut(executor, 'n1', 'delete', desired)).toMatchObject({
          file: { type: 'missing' },
          recordFiles: false,
          link: undefined,
        });
        expect(await executor.subjects('n1')).toContain(uid);
        expect(await executor.purge('n1', uid)).toBe(true);
        expect(await executor.subjects('n1')).not.toContain(uid);
        expect((await leftovers({ uids: [uid] })).filter((fault) => fault.includes(uid))).toEqual(
          [],
        );
      } finally {
        await removeTraces(uid, desired.file);
      }
    });

    test('`check node` detects whether the account has the current sudoers', async () => {
      const probes = [
        { name: 'commands', argv: nameProbe(await readFile('deploy/sudoers', 'utf8')) },
      ];
      await sudo.user.allow([]);
      expect((await executor.observe('n1', probes)).get('commands')?.exit).toBe(0);
      const older = [{ name: 'commands', argv: ['true', 'stowage-allows-000000000000'] }];
      await expect(executor.observe('n1', older)).rejects.toMatchObject({
        cause: { name: 'SudoRefusal' },
      });
    });

    test('LC_ALL=C reaches programs under sudo', async () => {
      const print = await sudo.program('print', 'printenv LC_ALL');
      const seen = await executor.observe('n1', [{ name: 'a', argv: [print] }]);
      expect(seen.get('a')).toEqual({ exit: 0, stdout: 'C', stderr: '' });
    });

    test.each([0, 1, 2, 126, 127])('status %d of a program is passed on', async (status) => {
      const exit = await sudo.program('exit', `echo out; echo err >&2; exit ${status}`);
      const seen = await executor.observe('n1', [{ name: 'a', argv: [exit] }]);
      expect(seen.get('a')).toEqual({ exit: status, stdout: 'out', stderr: 'err' });
      const precondition = { argv: [exit], expect: { exit: status }, refusal: 'other' };
      const state = await executor.submit(
        'n1',
        sudo.job({ ...step(exit), preconditions: [precondition] }),
        WITHIN,
      );
      expect(state).toMatchObject(
        status === 0
          ? { state: 'succeeded' }
          : // Without the output of the precondition, which held.
            { state: 'failed', exit: status, output: 'out\nerr\n' },
      );
    });

    test('a warning of sudo is no refusal', async () => {
      const warn = await sudo.program('warn', 'echo "sudo: unable to resolve host n1" >&2; exit 1');
      const seen = await executor.observe('n1', [{ name: 'a', argv: [warn] }]);
      expect(seen.get('a')).toEqual({ exit: 1, stdout: '', stderr: '' });
    });

    test('a missing file is missing on a node that cannot resolve its own name', async () => {
      const missing = 'cat: /none: No such file or directory';
      const said = `sudo: unable to resolve host n1: Name or service not known\n${missing}`;
      const cat = await sudo.program('unresolved', `printf '${said}\n' >&2; exit 1`);
      const seen = await executor.observe('n1', [{ name: 'a', argv: [cat] }]);
      expect(seen.get('a')).toEqual({ exit: 1, stdout: '', stderr: missing });
    });

    test('a program that the node lacks fails with 127', async () => {
      const seen = await executor.observe('n1', [{ name: 'a', argv: ['no-such-program'] }]);
      expect(seen.get('a')?.exit).toBe(127);
      expect(await executor.submit('n1', sudo.job(step('no-such-program')), WITHIN)).toMatchObject({
        state: 'failed',
        exit: 127,
      });
    });

    test('a job whose shell was killed runs until its program ends, then has died', async () => {
      const wait = await sudo.program(
        'wait',
        `echo "$$" >${sudo.directory}/pid.new; mv ${sudo.directory}/pid.new ${sudo.directory}/pid; until [ -e ${sudo.directory}/go ]; do sleep 0.02; done`,
      );
      await executor.submit('n1', sudo.job(step(wait)), 0);
      const pid = await until('the program runs', () =>
        readFile(join(sudo.directory, 'pid'), 'utf8').then(Number, () => undefined),
      );
      const parent = await parentOf(pid);
      const shell = await parentOf(parent);
      try {
        process.kill(shell, 'SIGKILL');
        const poll = (waitMs: number) =>
          executor.poll('n1', [{ subject: sudo.subject, id: 'a' }], waitMs);
        expect(await poll(200)).toMatchObject([{ state: 'running' }]);
        // The job continues without the sudo that waits for it and holds the other lock.
        process.kill(parent, 'SIGKILL');
        expect(await poll(200)).toMatchObject([{ state: 'running' }]);
        expect(await executor.purge('n1', sudo.subject)).toBe(false);
        const next: Job = {
          key: { subject: sudo.subject, id: 'b' },
          steps: [step('test', '-S', '/run/udev/control')],
        };
        expect(await executor.submit('n1', next, 200)).toEqual({ state: 'running' });
        await writeFile(join(sudo.directory, 'go'), '');
        expect(await poll(WITHIN)).toMatchObject([
          { state: 'died', step: { name: `run ${wait}` } },
        ]);
        expect(await executor.poll('n1', [next.key], WITHIN)).toEqual([{ state: 'succeeded' }]);
      } finally {
        await writeFile(join(sudo.directory, 'go'), '');
        await rm(join(sudo.directory, 'pid'));
        await until('the program ends', async () =>
          (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) === ''
            ? true
            : undefined,
        );
        await rm(join(sudo.directory, 'go'));
      }
    });
  });
});

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}
