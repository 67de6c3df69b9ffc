import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeNode } from '../../src/api/core.ts';
import { NODES, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume, VolumeSpec } from '../../src/api/volume.ts';
import { LOCAL_CLASS, sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';
import { expectDiagnosis, type Person, person, type WhyOutput } from '../support/why.ts';

/**
 * Problems of nodes and devices, with a daemon over ssh and real devices. Each is caused, then
 * fixed by the commands that `why` prints.
 */

const ELECTION = {
  STOWAGE_LEADER_ELECTION_LEASE_DURATION: '4s',
  STOWAGE_LEADER_ELECTION_RENEW_DEADLINE: '3s',
  STOWAGE_LEADER_ELECTION_RETRY_PERIOD: '500ms',
  STOWAGE_RETRY_INTERVAL_MAX: '2s',
};

describeAsRoot('why, for problems of nodes', () => {
  let cluster: TestCluster;
  let stopUdev: () => Promise<void>;
  let folder: { path: string; remove(): Promise<void> };
  let sshd: Sshd;
  let watch: ReturnType<typeof startWatch>;
  let someone: Person;
  const disks: Disk[] = [];

  const startWatch = (command = 'stowage watch', configFile = sshd.configFile) =>
    execa('sh', ['-c', `exec bin/${command}`], {
      env: { KUBECONFIG: cluster.kubeconfig, STOWAGE_SSH_CONFIG: configFile, ...ELECTION },
      reject: false,
    });

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    cluster = await startCluster();
    folder = await temporaryDirectory('why-nodes');
    const bin = join(folder.path, 'bin');
    await mkdir(bin);
    sshd = await startSshd({
      nodes: ['n1'],
      env: { PATH: `${bin}:${process.env.PATH}` },
      // A mount namespace of its own, in which a program can be hidden.
      under: ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c', 'exec "$0" "$@"'],
    });
    await cluster.client.create<KubeNode>(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
    });
    someone = await person(cluster.kubeconfig, { STOWAGE_SSH_CONFIG: sshd.configFile });
    await someone.program('ssh', `exec /usr/bin/ssh -F ${sshd.configFile} -o HostKeyAlias=n1 "$@"`);
    watch = startWatch();
  });

  afterAll(async () => {
    watch?.kill('SIGTERM');
    await watch;
    for (const disk of disks) await disk.remove();
    await sshd?.stop();
    await cluster?.stop();
    await someone?.leave();
    await stopUdev?.();
    await folder?.remove();
  });

  const create = (name: string, spec: Partial<VolumeSpec> = {}) => {
    const volume = sparseVolume(name, 'n1', '10Mi');
    const sparseLoopDevice = { size: '10Mi', directory: folder.path };
    return cluster.client.create(VOLUMES, {
      ...volume,
      spec: { ...volume.spec, sparseLoopDevice, ...spec },
    });
  };
  const raw = (devicePath: string): Partial<VolumeSpec> =>
    ({ sparseLoopDevice: undefined, rawBlockDevice: { devicePath }, onDelete: 'Delete' }) as never;
  const inPhase = (name: string, phase: string) =>
    until(`${name} ${phase}`, async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, name);
      return volume.status?.phase === phase ? volume : undefined;
    });
  const remove = (name: string) =>
    someone.shell(`stowage delete volume ${name} --wait --timeout 120s --yes`);
  const disk = async () => {
    const made = await makeDisk(folder.path, randomUUID(), 64n << 20n);
    disks.push(made);
    return made;
  };
  /**
   * Accepts that a check of the node also finds what other tests left on this machine, and reports
   * that by its exit status.
   */
  const checking = (said: WhyOutput): WhyOutput => {
    const run = said.fix?.run?.map((line) =>
      / check node /.test(line) ? `${line} || [ $? = 5 ]` : line,
    );
    return { ...said, fix: { say: '', ...(run && { run }) } };
  };
  /** Runs a line on the node, in its mount namespace. */
  const onNode = (line: string) => someone.shell(`ssh n1 '${line}'`);

  test('reports JobRunning with the current step', async () => {
    const hold = join(folder.path, 'hold');
    await writeFile(hold, '');
    const wrapper = `#!/bin/sh\nwhile [ -e ${hold} ]; do sleep 0.1; done\nexec /usr/sbin/mkfs.ext4 "$@"\n`;
    await writeFile(join(folder.path, 'bin', 'mkfs.ext4'), wrapper, { mode: 0o755 });
    const begun = Date.now();
    await create('job');
    const said = await until('why reports the step', async () => {
      const each = await someone.why('volume/job');
      return each.holdup?.includes('create the ext4 file system') ? each : undefined;
    }).finally(() => rm(hold));
    expect(said).toMatchObject({ cause: 'JobRunning', nextTry: 'when the job has ended' });
    expect(said.holdup).toMatch(/^PrepareVolume \(attempt 1\) is running on node n1: /);
    expect(Date.parse(said.since ?? '')).toBeGreaterThanOrEqual(begun - 1000);
    await inPhase('job', 'Available');
    await rm(join(folder.path, 'bin', 'mkfs.ext4'));
    await remove('job');
  });

  test('reports DaemonAbsent for a daemon that died and left its Lease', async () => {
    watch.kill('SIGKILL');
    await watch;
    await create('orphan');
    const said = await someone.untilCause('volume/orphan', 'DaemonAbsent');
    expectDiagnosis(said, 'DaemonAbsent', 'Volume orphan', 'Lease default/stowage');
    expect(said.holdup).toMatch(
      /no longer renews it; previous blocker: no daemon has observed it yet/,
    );
    expect(said.fix?.run).toEqual(['stowage watch']);
    watch = startWatch(said.fix?.command);
    await inPhase('orphan', 'Available');
    await remove('orphan');
  });

  test('reports NodeUnreachable for a node that does not answer', async () => {
    await sshd.down();
    await create('silent');
    const said = await someone.untilCause('volume/silent', 'NodeUnreachable');
    expectDiagnosis(said, 'NodeUnreachable', 'Volume silent', 'Node n1');
    expectDiagnosis(await someone.why('node/n1'), 'NodeUnreachable', 'Node n1');
    await expect(someone.follow(said)).rejects.toThrow('Connection refused');
    await sshd.up();
    await someone.follow(checking(said));
    await inPhase('silent', 'Available');
    await remove('silent');
  });

  test('reports HostKeyChanged for a reinstalled node', async () => {
    await sshd.down();
    const key = join(sshd.folder, 'host_key');
    await rm(key);
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
    await sshd.up();
    // The first request finds the old connection closed, and its error is reported for a minute.
    await create('first');
    await until('the Volume reports NodeUnreachable', async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, 'first');
      return (
        volume.status?.conditions?.some(({ reason }) => reason === 'NodeUnreachable') || undefined
      );
    });
    await create('again');
    const said = await someone.untilCause('volume/again', 'HostKeyChanged');
    expectDiagnosis(said, 'HostKeyChanged', 'Volume again', 'Node n1');
    // The fingerprint to compare on the node's console.
    const { stdout: printed } = await execa('ssh-keygen', ['-lf', `${key}.pub`]);
    expect(said.fix?.run?.at(-1)).toContain(printed.split(' ')[1]);
    await someone.follow(checking(said));
    await inPhase('again', 'Available');
    await inPhase('first', 'Available');
    await remove('again');
    await remove('first');
  });

  test('reports ToolMissing for a program that cannot be run', async () => {
    const xfs = { ...LOCAL_CLASS, metadata: { name: 'xfs' }, parameters: { fsType: 'xfs' } };
    await cluster.client.create(STORAGE_CLASSES, xfs);
    await onNode('mount --bind /dev/null /usr/sbin/mkfs.xfs');
    // Stands for the package manager: the program is already installed, and only hidden.
    const apt = `#!/bin/sh\n[ "$*" = "install -y xfsprogs" ] && umount /usr/sbin/mkfs.xfs\n`;
    await writeFile(join(folder.path, 'bin', 'apt-get'), apt, { mode: 0o755 });
    await create('tool', {
      storageClassName: 'xfs',
      sparseLoopDevice: { size: '310Mi', directory: folder.path },
    });
    const said = await someone.untilCause('volume/tool', 'ToolMissing');
    expectDiagnosis(said, 'ToolMissing', 'Volume tool');
    expect(said.fix?.run?.[0]).toBe('ssh n1 apt-get install -y xfsprogs');
    await someone.follow(said);
    await inPhase('tool', 'Available');
    await remove('tool');
  });

  test('reports SignatureFound for data, DeviceOfAnother for another Volume', async () => {
    const { path } = await disk();
    await execa('mkfs.ext4', ['-q', '-F', path]);
    await create('signed', raw(path));
    const said = await someone.untilCause('volume/signed', 'SignatureFound');
    expectDiagnosis(said, 'SignatureFound', 'Volume signed');
    await someone.follow(said);
    await inPhase('signed', 'Available');
    // Meanwhile another Volume cannot use the device.
    await create('second', raw(path));
    const other = await someone.untilCause('volume/second', 'DeviceOfAnother');
    expectDiagnosis(other, 'DeviceOfAnother', 'Volume second');
    expect(other.fix?.run?.[0]).toBe('stowage delete volume signed --wait');
    await someone.follow(other);
    // Deletion wipes the first Volume's signatures, but not its whole data.
    const rest = await someone.untilCause('volume/second', 'SignatureFound');
    expect(rest.holdup).toMatch(/unknown data/);
    await someone.follow(rest);
    await inPhase('second', 'Available');
    await remove('second');
  });

  test('reports DeviceInUse for a mounted device', async () => {
    const { path } = await disk();
    const point = join(folder.path, 'mnt');
    await mkdir(point);
    await execa('mkfs.ext4', ['-q', '-F', path]);
    await onNode(`mount ${path} ${point}`);
    await create('used', raw(path));
    const said = await someone.untilCause('volume/used', 'DeviceInUse');
    expectDiagnosis(said, 'DeviceInUse', 'Volume used');
    // The owner of the mount is unknown: no command unmounts it.
    expect(said.holdup).toMatch(`mounted at ${point}`);
    expect(said.fix?.run).toEqual(['stowage retry volume used']);
    await onNode(`umount ${point}`);
    await someone.follow(said);
    // The content of the device is the next problem.
    await someone.follow(await someone.untilCause('volume/used', 'SignatureFound'));
    await inPhase('used', 'Available');
    await remove('used');
  });

  test('reports NoSpace for a full directory', async () => {
    const small = join(folder.path, 'small');
    await mkdir(small);
    await onNode(`mount -t tmpfs -o size=64k,mode=0700 tmpfs ${small}`);
    await create('large', { sparseLoopDevice: { size: '10Mi', directory: small } });
    const said = await someone.untilCause('volume/large', 'NoSpace');
    expectDiagnosis(said, 'NoSpace', 'Volume large');
    expect(said.fix?.run?.[0]).toBe(`ssh n1 df -h ${small}`);
    await onNode(`mount -o remount,size=64m ${small}`);
    await someone.follow(said);
    await inPhase('large', 'Available');
    await remove('large');
    await onNode(`umount ${small}`);
  });

  test('reports WaitingForUnmount for a deleted Volume that is mounted', async () => {
    const { metadata } = await create('held');
    await inPhase('held', 'Available');
    const point = join(folder.path, 'kept');
    await mkdir(point);
    await onNode(`mount /dev/disk/by-id/stowage-${metadata.uid} ${point}`);
    await cluster.client.delete(VOLUMES, 'held');
    const said = await someone.untilCause('volume/held', 'WaitingForUnmount');
    expectDiagnosis(said, 'WaitingForUnmount', 'Volume held', 'Node n1');
    await someone.follow(said);
    await until('the Volume is gone', async () =>
      (await cluster.client.get(VOLUMES, 'held').catch(() => undefined)) === undefined
        ? true
        : undefined,
    );
  });

  test('reports SudoRefused for a user whom sudo refuses', async () => {
    watch.kill('SIGTERM');
    await watch;
    let user: SudoUser | undefined;
    try {
      user = await makeSudoUser();
      await someone.program(
        'ssh',
        `exec /usr/bin/ssh -F ${user.sshd.configFile} -o HostKeyAlias=n1 "$@"`,
      );
      // In the server's own mount namespace no user has rights, and files written there disappear
      // with it.
      await someone.shell('ssh root@n1 mount -t tmpfs -o mode=0750 tmpfs /etc/sudoers.d');
      watch = startWatch('stowage watch', user.sshd.configFile);
      // In the directory that deploy/sudoers names.
      await create('sudo', { sparseLoopDevice: { size: '10Mi' } });
      const said = await someone.untilCause('volume/sudo', 'SudoRefused');
      expectDiagnosis(said, 'SudoRefused', 'Volume sudo', 'Node n1');
      await someone.follow(said);
      await inPhase('sudo', 'Available');
      await remove('sudo');
    } finally {
      await user?.remove();
    }
  });
});
