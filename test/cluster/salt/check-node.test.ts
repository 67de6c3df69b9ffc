import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import { describeAsRoot } from '../../support/root.ts';
import { ensureUdev } from '../../support/udev.ts';
import { flagsFor, type Salt, startSalt } from './salt.ts';

describeAsRoot('commands that query nodes over Salt', () => {
  let cluster: TestCluster;
  let salt: Salt;
  let undoUdev: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    undoUdev = await ensureUdev();
    cluster = await startCluster();
    salt = await startSalt({ minions: ['n1'] });
  });
  afterAll(async () => {
    await salt?.stop();
    await cluster?.stop();
    await undoUdev?.();
  });

  const stowage = (...args: string[]) =>
    execa('bin/stowage', [...args, ...flagsFor(salt)], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
  const checks = async () => {
    const { stdout } = await stowage('check', 'node', 'n1', '-o', 'json');
    const report = JSON.parse(stdout) as {
      checks: { check: string; ok: boolean; message: string }[];
    };
    return new Map(report.checks.map((each) => [each.check, each]));
  };
  const module = () => join(salt.folder, 'stowage', '_modules', 'stowage.py');

  test('check node reports a healthy node', async () => {
    const found = await checks();
    expect(found.get('reachable')).toMatchObject({ ok: true });
    expect(found.get('user')).toMatchObject({ ok: true });
    expect(found.get('losetup')).toMatchObject({ ok: true });
    expect((await stowage('get', 'nodes', 'n1')).stdout).toMatch(/^n1 +salt +yes /m);
  });

  test('--dry-run=plan prints the plan for a node', async () => {
    const flags = ['--node', 'n1', '--storage-class', 'local', '--size', '1Gi', '--dry-run=plan'];
    const { stdout, stderr } = await stowage('create', 'volume', 'v1', ...flags);
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('mkfs.ext4')]);
  });

  test('check node reports a Salt module of another version', async () => {
    const text = await readFile(module(), 'utf8');
    await writeFile(module(), text.replace(/^VERSION = .*$/m, 'VERSION = 0'));
    await salt.salt('n1', 'saltutil.sync_modules');
    expect((await checks()).get('user')).toMatchObject({
      ok: false,
      message: expect.stringContaining('version 0'),
      hint: expect.stringContaining('Copy salt/ of this version of Stowage'),
    });
    await writeFile(module(), text);
    await salt.salt('n1', 'saltutil.sync_modules');
    expect((await checks()).get('user')).toMatchObject({ ok: true });
  });

  test('check node reports a missing Salt module', async () => {
    await rm(join(salt.folder, 'stowage', '_modules'), { recursive: true });
    await salt.salt('n1', 'saltutil.sync_modules');
    const { stdout, stderr, exitCode } = await stowage('check', 'node', 'n1');
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain("Stowage's Salt module on minion n1 is missing");
    expect(stderr).toContain('saltutil.sync_modules');
  });

  test('the state stowage writes the allowlist', async () => {
    const said = await salt.salt(
      'n1',
      'state.apply',
      'stowage',
      "pillar={'stowage': {'devices': ['/dev/sdb']}}",
    );
    expect(said).toMatch(/Failed: +0/);
    const list = await readFile(join(salt.folder, 'minion-n1', 'allowed'), 'utf8');
    expect(list).toContain('directory /var/lib/metalk8s/storage/sparse\ndevice /dev/sdb\n');
  });
});
