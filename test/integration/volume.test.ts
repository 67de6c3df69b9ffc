import { existsSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { stringify } from 'yaml';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const STOWAGE = 'bin/stowage';

/** As MetalK8s's documentation has it, and unchanged. */
const METALK8S_MANIFEST = `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata:
  name: NAME
spec:
  nodeName: n1
  storageClassName: local
  sparseLoopDevice:
    size: 100Mi
  template:
    metadata:
      labels:
        app.kubernetes.io/name: prometheus-operator-prometheus
`;

const startWatch = (flags: string[], kubeconfig: string) =>
  execa(STOWAGE, ['watch', ...flags], { env: { KUBECONFIG: kubeconfig }, reject: false });

/** `npm run test:faults` has the time for both. What else runs here reaches the node without ssh. */
const TRANSPORTS = process.env.STOWAGE_FAULTS === undefined ? [['ssh']] : [['ssh'], ['local']];

describeAsRoot.each(TRANSPORTS)('a sparse ext4 volume over %s', (transport) => {
  let cluster: TestCluster;
  let sshd: Sshd;
  let stopUdev: () => Promise<void>;
  let watch: ReturnType<typeof startWatch>;
  let folder: { path: string; remove(): Promise<void> };

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    sshd = await startSshd({ nodes: ['n1'] });
    cluster = await startCluster();
    folder = await temporaryFolder('volume');
    const flags = transport === 'ssh' ? ['--ssh-config', sshd.configFile] : ['--local-node', 'n1'];
    watch = startWatch(['--transport', transport, ...flags], cluster.kubeconfig);
  });

  afterAll(async () => {
    watch?.kill('SIGTERM');
    const ended = await watch;
    await cluster?.stop();
    await sshd?.stop();
    await stopUdev?.();
    await folder?.remove();
    expect(ended?.exitCode).toBe(0);
  });

  const run = (command: string, args: string[], input?: string) =>
    execa(command, args, {
      env: { KUBECONFIG: cluster.kubeconfig },
      ...(input === undefined ? {} : { input }),
    });

  const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);

  async function settled(name: string): Promise<Volume> {
    return until(`${name} Available or Failed`, async () => {
      const volume = await get(name);
      return ['Available', 'Failed'].includes(volume.status?.phase ?? '') ? volume : undefined;
    });
  }

  async function gone(name: string): Promise<void> {
    await until(`${name} gone`, () =>
      get(name).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );
  }

  const fileOf = (volume: Volume) =>
    `${volume.spec.sparseLoopDevice?.directory ?? '/var/lib/metalk8s/storage/sparse'}/${volume.metadata.uid}`;

  /** What there must be of a volume of 100Mi, in the cluster and on the node. */
  async function expectWhole(name: string, label: [string, string]): Promise<string> {
    const volume = await get(name);
    const uid = volume.metadata.uid ?? '';
    const link = `/dev/disk/by-uuid/${uid}`;
    expect(volume.status).toMatchObject({ phase: 'Available', devicePath: link, capacity: '100Mi' });
    expect(volume.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    expect(volume.status?.deviceName).toMatch(/^loop\d+$/);
    const pv = await cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    expect(pv.metadata.labels).toEqual({ [label[0]]: label[1] });
    expect(pv.spec).toMatchObject({
      capacity: { storage: '100Mi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      mountOptions: ['noatime'],
      local: { path: link, fsType: 'ext4' },
    });
    const [device, byLink] = await Promise.all([stat(`/dev/${volume.status?.deviceName}`), stat(link)]);
    expect(byLink.rdev).toBe(device.rdev);
    const expected = [{ uid, file: fileOf(volume), loop: true }];
    expect(await leftovers({ expected, client: cluster.client })).toEqual([]);
    return uid;
  }

  const expectNothing = async (uid: string) =>
    expect(await leftovers({ uids: [uid], client: cluster.client })).toEqual([]);

  test('by stowage create and delete', async () => {
    const flags = ['--node', 'n1', '--size', '100Mi', '--storage-class', 'local', '-l', 'tier=db', '--wait'];
    const created = await run(STOWAGE, ['create', 'volume', 'data1', ...flags, '-o', 'name']);
    expect(created.stdout).toBe('volume.storage.metalk8s.scality.com/data1');
    const uid = await expectWhole('data1', ['tier', 'db']);
    await run(STOWAGE, ['delete', 'volume', 'data1', '--wait']);
    await expectNothing(uid);
  });

  test("by kubectl apply and delete of MetalK8s's manifest", async () => {
    await run('kubectl', ['apply', '-f', '-'], METALK8S_MANIFEST.replace('NAME', 'data2'));
    await run('kubectl', ['wait', '--for=condition=Ready', 'volume/data2', '--timeout=120s']);
    const uid = await expectWhole('data2', ['app.kubernetes.io/name', 'prometheus-operator-prometheus']);
    await run('kubectl', ['delete', 'volume', 'data2', '--timeout=120s']);
    await expectNothing(uid);
  });

  test('twelve at once have twelve devices', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => cluster.client.create(VOLUMES, sparseVolume(name, 'n1', '32Mi'))));
    const volumes = await Promise.all(names.map(settled));
    expect(new Set(volumes.map(({ status }) => status?.deviceName)).size).toBe(12);
    const expected = volumes.map((volume) => ({
      uid: volume.metadata.uid ?? '',
      file: fileOf(volume),
      loop: true,
    }));
    expect(await leftovers({ expected, client: cluster.client })).toEqual([]);
    await Promise.all(names.map((name) => cluster.client.delete(VOLUMES, name)));
    await Promise.all(names.map(gone));
    expect(await leftovers({ client: cluster.client })).toEqual([]);
  });

  // It takes two of the daemon's periods of observation.
  if (EVERY_CASE) {
    test('a device that someone detached, its file away for a while, comes back with its data', async () => {
      await cluster.client.create(VOLUMES, sparseVolume('back', 'n1', '64Mi'));
      const { status, metadata } = await settled('back');
      await run('sh', [
        '-c',
        'printf kept | dd of="$1" bs=4k seek=4000 conv=notrunc,fsync status=none',
        'sh',
        status?.devicePath ?? '',
      ]);
      const file = `/var/lib/metalk8s/storage/sparse/${metadata.uid}`;
      await rename(file, `${file}.away`);
      await run('losetup', ['-d', `/dev/${status?.deviceName}`]);
      const link = `/dev/disk/by-uuid/${metadata.uid}`;
      await until('the link is gone', () =>
        stat(link).then(
          () => undefined,
          () => true,
        ),
      );
      const missing = await until('it is said to be missing', async () => {
        const ready = (await get('back')).status?.conditions?.[0];
        return ready?.status === 'False' ? ready : undefined;
      });
      expect(missing).toMatchObject({
        reason: 'UnavailableError',
        message: expect.stringContaining('is missing'),
      });
      await expect(stat(file)).rejects.toThrow('ENOENT');
      await rename(`${file}.away`, file);
      await until('the link is back', () =>
        stat(link).then(
          () => true,
          () => undefined,
        ),
      );
      const { stdout } = await run('dd', [`if=${link}`, 'bs=4k', 'skip=4000', 'count=1', 'status=none']);
      expect(stdout.slice(0, 4)).toBe('kept');
      await until('Ready again', async () =>
        (await get('back')).status?.conditions?.[0]?.status === 'True' ? true : undefined,
      );
      await cluster.client.delete(VOLUMES, 'back');
      await gone('back');
      expect(await leftovers({ client: cluster.client })).toEqual([]);
    });
  }

  test('while it is mounted it is not taken away, and says so', async () => {
    await cluster.client.create(VOLUMES, sparseVolume('used', 'n1', '64Mi'));
    const { status, metadata } = await settled('used');
    await run('mount', [status?.devicePath ?? '', folder.path]);
    try {
      await cluster.client.delete(VOLUMES, 'used');
      const held = await until('a reason', async () => {
        const ready = (await get('used')).status?.conditions?.[0];
        return ready?.message?.includes('in use') ? ready.message : undefined;
      });
      expect(held).toContain(`mounted at ${folder.path}`);
      const uid = metadata.uid ?? '';
      const file = `/var/lib/metalk8s/storage/sparse/${uid}`;
      const faults = await leftovers({ expected: [{ uid, file, loop: true }] });
      expect(faults).toEqual([]);
    } finally {
      await run('umount', [folder.path]);
    }
    await gone('used');
    await expectNothing(metadata.uid ?? '');
  });

  test('a Volume deleted at once leaves nothing, however far it got', async () => {
    const moments: [string, (volume: Volume) => boolean][] = [
      ['created', () => true],
      ['finalizer', ({ metadata }) => (metadata.finalizers ?? []).length > 0],
      ['job', ({ status }) => status?.job !== undefined],
      ['file', (volume) => existsSync(fileOf(volume))],
      ['device', ({ metadata }) => existsSync(`/dev/disk/by-uuid/${metadata.uid}`)],
    ];
    const reached = async (volume: Volume, is: (volume: Volume) => boolean) => {
      const { name, uid = '' } = volume.metadata;
      await until(`${name} is that far`, async () => is(await get(name)) || undefined);
      await cluster.client.delete(VOLUMES, name);
      await gone(name);
      return uid;
    };
    const uids = await Promise.all(
      moments.map(async ([moment, is]) =>
        reached(await cluster.client.create(VOLUMES, sparseVolume(`early-${moment}`, 'n1', '64Mi')), is),
      ),
    );
    expect(await leftovers({ uids, client: cluster.client })).toEqual([]);
  });

  test('what others take off the objects loses nothing', async () => {
    await cluster.client.create(VOLUMES, sparseVolume('robbed', 'n1', '64Mi'));
    const { metadata } = await settled('robbed');
    const finalizers = async () => (await get('robbed')).metadata.finalizers ?? [];
    const [finalizer] = await finalizers();
    await cluster.client.patch(VOLUMES, 'robbed', { metadata: { finalizers: null } });
    await until('the finalizer is back', async () =>
      (await finalizers()).includes(finalizer ?? '') ? true : undefined,
    );
    await cluster.client.patch(PERSISTENT_VOLUMES, 'robbed', { metadata: { ownerReferences: null } });
    await cluster.client.patch(VOLUMES, 'robbed', { status: null }, { subresource: 'status' });
    await cluster.client.delete(VOLUMES, 'robbed');
    await gone('robbed');
    await until('the PersistentVolume is gone', async () =>
      (await cluster.client.list(PERSISTENT_VOLUMES)).items.length === 0 ? true : undefined,
    );
    // Without the status the file is removed beside a detach that had begun, whose own traces go when that ends.
    await until('nothing is left', async () =>
      (await leftovers({ uids: [metadata.uid ?? ''], client: cluster.client })).length === 0
        ? true
        : undefined,
    );
  });

  test('a PersistentVolume that the API server refuses is told, and can be deleted', async () => {
    const volume = sparseVolume('odd', 'n1', '64Mi');
    volume.spec.template = { spec: { hostPath: { path: '/etc' } } };
    await cluster.client.create(VOLUMES, volume);
    const { status, metadata } = await settled('odd');
    expect(status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'CreationError' });
    expect(status?.conditions?.[0]?.message).toMatch(/refused the PersistentVolume: .*volume type/);
    await run(STOWAGE, ['delete', 'volume', 'odd', '--wait']);
    await expectNothing(metadata.uid ?? '');
  });

  /** Deletes several at the same time. */
  async function remove(volumes: readonly Volume[]): Promise<void> {
    for (const { metadata } of volumes) await cluster.client.delete(VOLUMES, metadata.name);
    await Promise.all(volumes.map(({ metadata }) => gone(metadata.name)));
  }
  /** What a command in a string would make. */
  const wasHere = () => join(folder.path, 'was-here');
  const withCommand = (text: string) => text.replace('WAS_HERE', wasHere());

  describe('hostile directories', () => {
    const EVIL = ["it's", 'a b', '$(touch WAS_HERE)', '`id`', '-rf', 'a;b|c&d', '"q"', '*', '\\', '%s'];
    const rows = EVIL.map((name, index) => ({ name, index }));
    const directoryOf = (name: string) => `${folder.path}/dirs/${withCommand(name)}`;
    let made: Volume[];

    beforeAll(async () => {
      const manifests = rows.map(({ name, index }) => {
        const volume = sparseVolume(`evil-${index}`, 'n1', '32Mi');
        volume.spec.sparseLoopDevice = { size: '32Mi', directory: directoryOf(name) };
        return stringify(volume);
      });
      await run('kubectl', ['apply', '-f', '-'], manifests.join('---\n'));
      made = await Promise.all(rows.map(({ index }) => settled(`evil-${index}`)));
    });

    test.each(rows)('a directory named $name is one argument', ({ index }) => {
      expect(made[index]?.status?.conditions?.[0]).toMatchObject({ status: 'True', message: '' });
    });

    test('each has one file with one device, nothing else is made, and all of it goes', async () => {
      const directories = EVIL.map(directoryOf);
      const expected = made.map((volume) => ({
        ...{ uid: volume.metadata.uid ?? '', file: fileOf(volume), loop: true },
      }));
      expect(await leftovers({ expected, directories })).toEqual([]);
      await remove(made);
      expect(await leftovers({ directories, client: cluster.client })).toEqual([]);
      expect(existsSync(wasHere())).toBe(false);
    });
  });

  describe('hostile specs', () => {
    const directory = (text: string) => (v: Volume) =>
      Object.assign(v.spec, { sparseLoopDevice: { size: '32Mi', directory: text } });
    const node = (text: string) => (v: Volume) => Object.assign(v.spec, { nodeName: withCommand(text) });
    const size = (text: string) => (v: Volume) => Object.assign(v.spec, { sparseLoopDevice: { size: text } });
    const REFUSED: [string, (volume: Volume) => void][] = [
      ['a newline in the directory', directory('/tmp/a\nb')],
      ['a relative directory', directory('tmp')],
      ['a directory with ..', directory('/tmp/../etc')],
      ['a directory like an option', directory('--help')],
      ['a node like an option', node('-oProxyCommand=touch WAS_HERE')],
      ['a node with a command', node('n1;$(touch WAS_HERE)')],
      ['a node with a newline', node('n1\nn2')],
      ['a class that is a path', (v) => Object.assign(v.spec, { storageClassName: '../../nodes' })],
      ['a size with a command', size('$(id)Gi')],
      ['a size like an option', size('-1Gi')],
    ];
    /** What became of each: a Volume, or the API server's refusal. */
    let ends: (Volume | Error)[];

    beforeAll(async () => {
      ends = await Promise.all(
        REFUSED.map(async ([, change], index) => {
          const volume = sparseVolume(`refused-${index}`, 'n1', '32Mi');
          change(volume);
          const created = await cluster.client.create(VOLUMES, volume).catch((error: Error) => error);
          return created instanceof Error ? created : settled(volume.metadata.name);
        }),
      );
    });

    test.each(REFUSED.map(([what], index) => ({ what, index })))(
      '$what is refused and named',
      ({ index }) => {
        const end = ends[index] as Volume | Error;
        if (end instanceof Error) {
          expect(String(end)).toMatch(/spec/);
          return;
        }
        expect(end.status?.phase).toBe('Failed');
        expect(end.status?.conditions?.[0]?.message).toMatch(/^spec\./);
        expect(end.status?.attempt).toBeUndefined();
      },
    );

    test('all that are refused can be deleted, and no command was run', async () => {
      await remove(ends.filter((end): end is Volume => !(end instanceof Error)));
      expect(existsSync(wasHere())).toBe(false);
    });
  });

  describe('hostile mkfs options', () => {
    const OPTIONS = [
      ['["-U", "clear"]', '-U'],
      ['["/dev/vda"]', '/dev/vda'],
      ['["-E", "offset=0"]', 'offset'],
      ['["-d", "/root"]', '-d'],
      ['["-m", "$(id)"]', '$(id)'],
      ['not json', 'not json'],
    ].map(([mkfsOptions = '', named = ''], index) => ({ mkfsOptions, named, index }));
    let failed: Volume[];

    beforeAll(async () => {
      failed = await Promise.all(
        OPTIONS.map(async ({ mkfsOptions, index }) => {
          const name = `options-${index}`;
          await cluster.client.create(STORAGE_CLASSES, {
            ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
            provisioner: 'kubernetes.io/no-provisioner',
            parameters: { fsType: 'ext4', mkfsOptions },
          } as never);
          const volume = sparseVolume(name, 'n1', '32Mi');
          volume.spec.storageClassName = name;
          await cluster.client.create(VOLUMES, volume);
          return settled(name);
        }),
      );
    });
    afterAll(() => remove(failed));

    test.each(OPTIONS)('$mkfsOptions are refused', ({ named, index }) => {
      const [ready] = failed[index]?.status?.conditions ?? [];
      expect(ready).toMatchObject({ status: 'False', reason: 'CreationError' });
      expect(ready?.message).toContain(named);
    });
  });
});
