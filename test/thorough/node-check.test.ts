import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Check, NodeReport } from '../../src/cli/lib/checks/report.ts';
import type { NodeRow } from '../../src/cli/lib/nodes/node-row.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { makeSudoUser } from '../support/sudo-user.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const PLACEHOLDER = '00000000-0000-4000-8000-000000000000';

/** Commands that check a real node. */
describeAsRoot('commands that check a real node', () => {
  let cluster: TestCluster;
  /** A cluster restored from an earlier backup: it has no objects created since. */
  let restored: TestCluster;
  let sshd: Sshd;
  let stopUdev: () => Promise<void>;
  let folder: { path: string; remove(): Promise<void> };
  const made: string[] = [];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster({ nodes: ['n1'] });
    restored = await startCluster();
    sshd = await startSshd({ nodes: ['n1'] });
    folder = await temporaryDirectory('node-look');
  });

  afterAll(async () => {
    for (const uid of made) await removeTraces(uid, join(folder.path, uid));
    await cluster?.stop();
    await restored?.stop();
    await sshd?.stop();
    await stopUdev?.();
    await folder?.remove();
  });

  const stowage = (of: TestCluster, ...argv: string[]) =>
    execa('bin/stowage', argv, { env: { KUBECONFIG: of.kubeconfig }, reject: false });

  test('the output of --dry-run=plan creates the volume when it is run', async () => {
    const argv = [
      '--node',
      'n1',
      '--size',
      '20Mi',
      '--directory',
      folder.path,
      '--storage-class',
      'local',
    ];
    const planned = await stowage(
      cluster,
      ...['create', 'volume', 'planned', ...argv],
      ...['--dry-run=plan', '--ssh-config', sshd.configFile],
    );
    expect(planned).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await cluster.client.list(VOLUMES)).items).toEqual([]);
    const file = join(folder.path, PLACEHOLDER);
    expect(existsSync(`/var/lib/stowage/volumes/${PLACEHOLDER}.intent`)).toBe(false);
    expect(existsSync(file)).toBe(false);

    made.push(PLACEHOLDER);
    await execa('sh', ['-eu'], { input: planned.stdout });
    expect((await execa('blkid', ['-p', '-s', 'UUID', '-o', 'value', file])).stdout).toBe(
      PLACEHOLDER,
    );
    expect((await execa('losetup', ['-j', file])).stdout).toContain(file);
    expect(existsSync(`/dev/disk/by-uuid/${PLACEHOLDER}`)).toBe(true);

    const again = await stowage(
      cluster,
      ...['create', 'volume', 'planned', ...argv],
      ...['--dry-run=plan', '-o', 'json', '--transport', 'local', '--local-node', 'n1'],
    );
    expect(again.exitCode).toBe(0);
    // The remaining steps: none.
    expect(JSON.parse(again.stdout).steps).toEqual([]);
  });

  test('check node reports leftovers and missing storage after an etcd restore', async () => {
    const watch = execa('bin/stowage', ['watch', '--transport', 'local', '--local-node', 'n1'], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
    const sparseLoopDevice = { size: '20Mi', directory: folder.path };
    const volume = sparseVolume('data1', 'n1', '20Mi');
    await cluster.client.create(VOLUMES, { ...volume, spec: { ...volume.spec, sparseLoopDevice } });
    const { metadata } = await until('data1 Available', async () => {
      const live = await cluster.client.get<Volume>(VOLUMES, 'data1');
      return live.status?.phase === 'Available' ? live : undefined;
    });
    const { uid = '' } = metadata;
    made.push(uid);
    watch.kill('SIGTERM');
    await watch;

    /** Returns the checks about this Volume: other tests may have left something on the machine. */
    const found = async (of: TestCluster): Promise<Check[]> => {
      const { stdout } = await stowage(
        of,
        'check',
        'node',
        'n1',
        '--ssh-config',
        sshd.configFile,
        '-o',
        'json',
      );
      const { checks } = JSON.parse(stdout) as NodeReport;
      expect(checks.slice(0, 3)).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
      return checks.filter(
        ({ ok, message, check }) => !ok && `${check} ${message}`.match(`${uid}|Volume data1`),
      );
    };

    expect(await found(cluster)).toEqual([]);
    const left = await found(restored);
    expect(left.map(({ message }) => message.split(/[;,]/)[0])).toEqual([
      expect.stringMatching(/^\/dev\/loop\d+$/),
      join(folder.path, uid),
      `records of the file ${join(folder.path, uid)}`,
    ]);

    // The commands must run in this order: an attached file is not removed.
    const early = await execa('sh', ['-c', left[1]?.command ?? ''], { reject: false });
    expect({ exit: early.exitCode, there: existsSync(join(folder.path, uid)) }).toEqual({
      exit: 1,
      there: true,
    });
    for (const { command = '' } of left) await execa('sh', ['-euc', command]);
    expect(await found(restored)).toEqual([]);
    expect(existsSync(join(folder.path, uid))).toBe(false);

    expect(await found(cluster)).toMatchObject([
      {
        check: 'Volume data1',
        message: expect.stringContaining('is missing, and so are its records'),
      },
    ]);
  });

  test('--trust-host-key trusts a host key only with its fingerprint', async () => {
    const config = join(folder.path, 'ssh_config');
    const knownHosts = join(folder.path, 'known_hosts');
    const text = await readFile(sshd.configFile, 'utf8');
    await writeFile(config, text.replace(`${sshd.folder}/known_hosts`, knownHosts));
    const check = (...argv: string[]) =>
      stowage(cluster, 'check', 'node', 'n1', '--ssh-config', config, ...argv);
    const shown = await execa('ssh-keygen', ['-lf', join(sshd.folder, 'host_key.pub')]);
    const fingerprint = shown.stdout.split(' ')[1] ?? '';
    const wrong = `SHA256:${'A'.repeat(43)}`;

    expect((await check()).stdout).toMatch(
      /^reachable +problem +node n1: its host key is unknown/m,
    );
    expect(await check('--trust-host-key', wrong)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(
        `no host key with the fingerprint ${wrong}, but ${fingerprint}`,
      ),
    });
    expect(existsSync(knownHosts)).toBe(false);
    const trusted = await check('--trust-host-key', fingerprint);
    expect(trusted.stderr).toContain(
      `${fingerprint} (ssh-ed25519) of node n1 is now trusted: added to ${knownHosts}`,
    );
    expect(trusted.stdout).toMatch(/^reachable +OK/m);
    expect((await check('--trust-host-key', fingerprint)).stderr).toContain('is already known');

    const other = join(folder.path, 'other');
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other]);
    const [type, key] = (await readFile(`${other}.pub`, 'utf8')).split(' ');
    await writeFile(knownHosts, `n1 ${type} ${key}\n`);
    const changed = await check('--trust-host-key', fingerprint);
    expect(changed).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(`ssh-keygen -R n1 -f ${knownHosts}`),
    });
    await execa('ssh-keygen', ['-R', 'n1', '-f', knownHosts]);
    expect((await check('--trust-host-key', fingerprint)).stdout).toMatch(/^reachable +OK/m);
  });

  test('check node and get nodes report which commands sudo refuses', async () => {
    const user = await makeSudoUser();
    try {
      const check = async () => {
        const argv = ['check', 'node', 'n1', '--ssh-config', user.sshd.configFile, '-o', 'json'];
        const { checks } = JSON.parse((await stowage(restored, ...argv)).stdout) as NodeReport;
        // Ignore what other tests left on the machine, also records of files in directories that
        // the sample does not name.
        return checks.filter(
          ({ ok, check: name, message }) =>
            !ok && name !== 'leftover' && !message.includes("'find -H /tmp/"),
        );
      };
      const get = async () => {
        const argv = ['get', 'nodes', 'n1', '--ssh-config', user.sshd.configFile, '-o', 'json'];
        return JSON.parse((await stowage(restored, ...argv)).stdout) as NodeRow;
      };
      await user.allow(['USER ALL = (root) NOPASSWD: /usr/bin/lsblk']);
      expect(await check()).toEqual([]);
      expect(await get()).toMatchObject({ reachable: true, free: { bytes: expect.any(Number) } });
      await user.allow(['USER ALL = (root) NOPASSWD: /usr/bin/lsblk, !/usr/sbin/sgdisk']);
      expect(await check()).toMatchObject([
        {
          check: 'tools',
          message: expect.stringContaining("'sgdisk --version'"),
          hint: expect.any(String),
        },
      ]);
      await user.allow(['USER ALL = (root) PASSWD: ALL']);
      expect(await check()).toMatchObject([
        { check: 'user', message: expect.stringContaining('sudo does not') },
      ]);
      const refused = await get();
      expect(refused).toMatchObject({
        reachable: true,
        message: expect.stringContaining('sudo does not'),
      });
      expect(refused).not.toHaveProperty('free');
    } finally {
      await user.remove();
    }
  });
});
