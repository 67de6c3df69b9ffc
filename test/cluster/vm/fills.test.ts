import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../../src/api/core.ts';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { NODES, POPULATOR_DEFINITIONS, STORAGE_CLASSES } from '../../../src/api/resources.ts';
import { cancelFill } from '../../../src/storage/device.ts';
import { REFUSED } from '../../../src/storage/populate/fill.ts';
import type { Fill } from '../../../src/storage/populate/types.ts';
import type { DesiredLvm } from '../../../src/storage/types.ts';
import { planNow, runSteps } from '../../support/carry-out.ts';
import { claimsOf } from '../../support/claim-objects.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import { createImage, fromImage } from '../../support/images.ts';
import { CONTENTS, type Content } from '../../support/kinds.ts';
import { drawSeed, seeded } from '../../support/random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { type LvmNode, MIB, NODE, recordedAs, startLvmNode } from './lvm.ts';
import { startWatch, type Watch } from './watch.ts';

/** Logical volumes populated from an image or an archive, on a kernel with device-mapper. */

/** Timeout in ms: a VM without hardware acceleration is slow. */
const LONG = 300_000;
const random = seeded(drawSeed());
const IMAGE = 24;

/**
 * Creates images and archives on the node: `large` takes long, and `bad` has a path outside of the
 * volume.
 */
const SOURCES = `set -e
mkdir -p /etc/stowage /srv/sources
printf 'path /srv/sources\\n' >/etc/stowage/sources.conf
cd /srv/sources
{ head -c 8M /dev/urandom; head -c 12M /dev/zero; head -c 4M /dev/urandom; } >disk
gzip -1 -k disk
truncate -s 1200M large
mkdir -p site/folder
head -c 3M /dev/urandom >site/folder/file
ln -s file site/folder/link
tar -C site -czf site.tar.gz .
tar -C site -cPf bad.tar --transform 's,.*file,../out,' ./folder/file
sync -f .`;

/** Locks all slots in which volumes are filled. */
const HOLD = `set -e
mkdir -p /run/stowage/fills
systemd-run --unit held sh -c 'for each in $(seq 16); do flock --no-fork /run/stowage/fills/$each sleep infinity & done; wait'
held() { for each in $(seq 16); do ! flock -n /run/stowage/fills/$each true || return 1; done; }
until held; do sleep 0.2; done`;

/** Writes so much to the thin pool that an image no longer fits. */
const OTHER = `set -e
lvcreate --name other --virtualsize 500M --thinpool pool vg0
dd if=/dev/urandom of=/dev/vg0/other bs=1M count=450 oflag=direct
lvchange --activate n vg0/other`;

const image = (source = '/srv/sources/disk.gz'): Fill => ({
  ...{ builtin: 'Image', what: 'Image prod/debian' },
  options: { source, compression: source.endsWith('.gz') ? 'gzip' : 'none' },
});
const archive = (name: string): Fill => ({
  ...{ builtin: 'Archive', what: 'Archive prod/site' },
  options: { source: `/srv/sources/${name}`, compression: name.endsWith('.gz') ? 'gzip' : 'none' },
});

const KINDS = (['thick', 'thin'] as const).flatMap((kind) =>
  CONTENTS.map((content) => [kind, content] as const),
);

describe('populating logical volumes', () => {
  let lvm: LvmNode;
  beforeAll(async () => {
    lvm = await startLvmNode();
    await lvm.vm.run(['sh', '-c', SOURCES]);
  }, 900_000);
  afterAll(() => lvm?.stop());
  afterEach(async () => {
    for (const name of await lvm.volumes()) {
      const script = 'umount "$1"; lvchange -ay -K "$1"; blkdiscard -fz "$1"; lvremove --yes "$1"';
      await lvm.vm.run(['sh', '-c', script, 'sh', `/dev/vg0/${name}`], { reject: false });
    }
  }, LONG);

  /** A volume that is so large that filling it takes a while. */
  const large = (): DesiredLvm => ({
    ...wanted('Block', 'thick', image('/srv/sources/large')),
    sizeBytes: 1300n * MIB,
  });

  const wanted = (content: Content, kind: 'thick' | 'thin', fill: Fill): DesiredLvm =>
    lvm.desired(content, { fill, ...(kind === 'thin' ? { thinPool: 'pool' } : {}) });

  /** Reports whether the volume contains the image, on its device or in disk.img. */
  async function isFilled(content: Content, link: string): Promise<boolean> {
    const file = content === 'Block' ? '"$1"' : '/run/filled/disk.img';
    const mount =
      content === 'Block' ? 'true' : 'mkdir -p /run/filled && mount -o ro "$1" /run/filled';
    const leave = content === 'Block' ? 'true' : 'umount /run/filled';
    const script = `${mount} && cmp -n ${IMAGE}M ${file} /srv/sources/disk; got=$?; ${leave}; exit $got`;
    return (await lvm.vm.run(['sh', '-c', script, 'sh', link], { reject: false })).exitCode === 0;
  }

  async function isWhole(desired: DesiredLvm, content: Content): Promise<DesiredLvm> {
    const device = await lvm.carry('provision', desired);
    const recorded = recordedAs(desired, device);
    const link = typeof device === 'string' ? '' : device.link;
    expect(await lvm.node.exists(link)).toBe(true);
    expect(await isFilled(content, link)).toBe(true);
    return recorded;
  }

  async function isGone(desired: DesiredLvm): Promise<void> {
    expect(await lvm.carry('delete', { ...desired, fill: undefined })).toMatchObject({
      device: undefined,
    });
    expect(await lvm.volumes()).toEqual([]);
    expect(
      (await lvm.node.tracesOf(desired.uid)).filter(
        (path) => !path.startsWith('/run/stowage/jobs'),
      ),
    ).toEqual([]);
  }

  test.each(KINDS)(
    'a %s volume with %s is populated from an image and deleted, twice in a row',
    async (kind, content) => {
      for (let round = 0; round < 2; round++) {
        const desired = wanted(content, kind, image());
        const recorded = await isWhole(desired, content);
        expect(await lvm.planned('attach', { ...recorded, fill: undefined })).toEqual([]);
        await isGone(recorded);
      }
    },
    LONG,
  );

  test.each([
    ['thick', 'ext4'],
    ['thin', 'xfs'],
  ] as const)(
    'a %s volume with %s contains the files of the archive',
    async (kind, content) => {
      const device = await lvm.carry('provision', wanted(content, kind, archive('site.tar.gz')));
      if (typeof device === 'string') throw new Error(device);
      const point = await lvm.node.mount(device.link, 'unpacked');
      const { stdout } = await lvm.vm.run(['diff', '-r', '/srv/sources/site', point], {
        reject: false,
      });
      await lvm.vm.run(['umount', point]);
      expect(
        stdout.split('\n').filter((line) => line !== '' && !line.endsWith(': lost+found')),
      ).toEqual([]);
    },
    LONG,
  );

  test(
    'an archive with paths outside of the volume is refused permanently, and cleaned up',
    async () => {
      const desired = wanted('ext4', 'thick', archive('bad.tar'));
      const plan = await planNow(lvm.executor, NODE, 'provision', desired);
      const state =
        'steps' in plan ? await runSteps(lvm.executor, NODE, desired, plan.steps) : undefined;
      expect(state).toMatchObject({ state: 'failed', exit: REFUSED });
      await isGone(desired);
      // The volume's extents can be used again.
      await isGone(await isWhole(wanted('xfs', 'thick', image()), 'xfs'));
    },
    LONG,
  );

  test.each(KINDS)(
    'a %s volume with %s is populated or deleted after jobs killed at random times',
    async (kind, content) => {
      const desired = wanted(content, kind, image());
      for (let round = 0; round < 3; round++)
        await lvm.killAfter('provision', desired, Math.floor(random() * 6000));
      await isGone(await isWhole(desired, content));

      const never = wanted(content, kind, image());
      await lvm.killAfter('provision', never, Math.floor(random() * 6000));
      await isGone(never);
    },
    LONG,
  );

  test(
    'a thin pool with space for two of three volumes populates the first two',
    async () => {
      const three = [0, 1, 2].map(() => wanted('xfs', 'thin', image()));
      const plans = await Promise.all(
        three.map((each) => planNow(lvm.executor, NODE, 'provision', each)),
      );
      const fills: (readonly string[])[] = [];
      for (const [index, desired] of three.entries()) {
        const plan = plans[index];
        if (plan === undefined || 'refusal' in plan) throw new Error(plan?.refusal);
        const at = plan.steps.findIndex(({ name }) => name.startsWith('populate the volume'));
        expect(await runSteps(lvm.executor, NODE, desired, plan.steps.slice(0, at))).toEqual({
          state: 'succeeded',
        });
        fills.push(plan.steps[at]?.argv ?? []);
      }
      const said = [];
      for (const argv of fills.toReversed()) said.push(await lvm.vm.run(argv, { reject: false }));
      expect(said.map(({ exitCode }) => exitCode)).toEqual([1, 0, 0]);
      expect(said[0]?.stderr).toMatch(
        /^the thin pool vg0\/pool has \d+ bytes left.* may still write \d+/,
      );
      // The volume's own unfinished content is removed, and not created again while the others are
      // being filled.
      expect(await lvm.carry('provision', three[2] as DesiredLvm)).toMatch(
        /other volumes that are being populated \d+$/,
      );
      expect((await lvm.volumes()).length).toBe(2);
      for (const desired of three.slice(0, 2)) {
        expect(await lvm.carry('delete', { ...desired, fill: undefined })).toMatchObject({
          device: undefined,
        });
      }
      await isGone(await isWhole(three[2] as DesiredLvm, 'xfs'));
    },
    LONG,
  );

  test(
    'a volume is not populated if its thin pool fills up while the job waits',
    async () => {
      await lvm.vm.run(['sh', '-c', HOLD]);
      const desired = wanted('xfs', 'thin', image());
      const plan = await planNow(lvm.executor, NODE, 'provision', desired);
      if ('refusal' in plan) throw new Error(plan.refusal);
      const key = { subject: desired.uid, id: 'waits' };
      await lvm.executor.submit(NODE, { key, steps: plan.steps }, 0);
      await isBeingFilled(desired);
      await lvm.vm.run(['sh', '-c', OTHER]);
      await lvm.vm.run(['systemctl', 'stop', 'held']);
      const [state] = await lvm.executor.poll(NODE, [key], 60_000);
      expect(state).toMatchObject({ state: 'failed', exit: 1 });
      expect(JSON.stringify(state)).toMatch(/the thin pool vg0\/pool has \d+ bytes left/);
      await lvm.vm.run(['lvremove', '--yes', 'vg0/other']);
      await isGone(await isWhole(desired, 'xfs'));
    },
    LONG,
  );

  test(
    'a volume is populated completely after a power cut interrupts its population',
    async () => {
      const desired = large();
      const plan = await planNow(lvm.executor, NODE, 'provision', desired);
      if ('refusal' in plan) throw new Error(plan.refusal);
      await lvm.executor.submit(
        NODE,
        { key: { subject: desired.uid, id: 'cut' }, steps: plan.steps },
        0,
      );
      await isBeingFilled(desired);
      await lvm.vm.powerCut();
      await lvm.vm.boot();
      await isGone(await isWhole({ ...desired, fill: image() }, 'Block'));
    },
    LONG,
  );

  test.each([
    ['while its shell runs', false],
    ['after its shell was killed', true],
  ])(
    'deletion cancels a running population: %s',
    async (_, killed) => {
      const desired = large();
      const plan = await planNow(lvm.executor, NODE, 'provision', desired);
      if ('refusal' in plan) throw new Error(plan.refusal);
      const key = { subject: desired.uid, id: 'filled' };
      await lvm.executor.submit(NODE, { key, steps: plan.steps }, 0);
      await isBeingFilled(desired);
      const isBegun = ['pgrep', '-f', `[s]towage-image-inside /dev/vg0/${desired.name} `];
      await until('the population script runs', async () => {
        return (await lvm.vm.run(isBegun, { reject: false })).exitCode === 0 || undefined;
      });
      if (killed)
        await lvm.vm.run(['pkill', '-KILL', '-f', `[s]towage-image /dev/vg0/${desired.name} `]);
      const cancel = {
        key: { subject: `${desired.uid}-cancel`, id: 'cancel' },
        steps: cancelFill(desired),
      };
      expect(await lvm.executor.submit(NODE, cancel, 20_000)).toEqual({ state: 'succeeded' });
      const [state] = await lvm.executor.poll(NODE, [key], 20_000);
      // A step that is killed from outside has no result of its own.
      const ended = killed ? 'raced' : 'failed';
      expect(state).toMatchObject({
        state: ended,
        step: { name: 'populate the volume from Image prod/debian' },
      });
      await until('no process has the volume open', async () => {
        const made = await planNow(lvm.executor, NODE, 'delete', { ...desired, fill: undefined });
        return 'refusal' in made && made.retryable ? undefined : made;
      });
      await isGone(desired);
    },
    LONG,
  );

  const isBeingFilled = ({ uid }: DesiredLvm) =>
    until('the volume is being populated', async () => {
      const { stdout } = await lvm.vm.run(
        ['sh', '-c', 'cat "/run/stowage/jobs/$1"/*/step', 'sh', uid],
        {
          reject: false,
        },
      );
      return stdout.includes('populate the volume from') || undefined;
    });

  describe('claims that the daemon populates', () => {
    let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
    let cluster: TestCluster;
    let watch: Watch;

    beforeAll(async () => {
      folder = await temporaryDirectory('fills');
      cluster = await startCluster({ crds: ALL_CRDS });
      const { client } = cluster;
      await client.create<KubeNode>(NODES, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE } },
      });
      const { stdout: bootID } = await lvm.vm.run(['cat', '/proc/sys/kernel/random/boot_id']);
      const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
      await client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
      for (const thinPool of ['', 'pool']) {
        await client.create<StorageClass>(STORAGE_CLASSES, {
          ...{
            apiVersion: 'storage.k8s.io/v1',
            kind: 'StorageClass',
            provisioner: 'volume.stowage.dev',
          },
          metadata: { name: thinPool === '' ? 'thick' : 'thin' },
          parameters: {
            ...{ type: 'lvm', vgName: 'vg0', fsType: 'ext4' },
            ...(thinPool === '' ? {} : { thinPool }),
          },
          ...{ volumeBindingMode: 'Immediate', reclaimPolicy: 'Delete' },
        });
      }
      await client.create<KubeObject>(POPULATOR_DEFINITIONS, {
        apiVersion: 'stowage.dev/v1alpha1',
        kind: 'PopulatorDefinition',
        metadata: { name: 'image' },
        spec: {
          sourceKind: { group: 'stowage.dev', kind: 'Image' },
          resource: { version: 'v1alpha1', plural: 'images', scope: 'Namespaced' },
          node: { builtin: 'Image' },
        },
      } as KubeObject);
      await createImage(client, 'default/debian', { source: { path: '/srv/sources/disk.gz' } });
      await createImage(client, 'default/large', { source: { path: '/srv/sources/large' } });
      watch = startWatch(cluster.kubeconfig, lvm.vm.configFile, folder.path);
    }, LONG);

    afterAll(async () => {
      const exit = await watch?.stop();
      await cluster?.stop();
      await folder?.remove();
      expect(exit).toBe(0);
    }, LONG);

    test('a Block volume of a class without Wipe contains no data of earlier volumes', async () => {
      const write =
        'lvcreate -Wn -Zn -L 400M -n earlier vg0 && { yes of-an-earlier-tenant | dd of=/dev/vg0/earlier bs=1M status=none oflag=direct iflag=fullblock; lvremove -y vg0/earlier; }';
      await lvm.vm.run(['sh', '-c', write]);
      const claims = claimsOf(cluster.client, {
        storageClassName: 'thick',
        size: '304Mi',
        withinMs: LONG,
      });
      await claims.create('default/empty', { volumeMode: 'Block' });
      const path = (await claims.isBound('default/empty')).spec.local?.path ?? '';
      const { stdout: size } = await lvm.vm.run(['blockdev', '--getsize64', path]);
      await lvm.vm.run(['cmp', `--bytes=${size.trim()}`, '--', path, '/dev/zero']);
      await claims.remove('default/empty');
      // A deletion does not wait for the remaining zeros.
      await claims.create('default/large', {
        volumeMode: 'Block',
        resources: { requests: { storage: '1300Mi' } },
      });
      await until(
        'zeros are written',
        async () => {
          const look = ['sh', '-c', 'grep -l "" /run/stowage/jobs/*/*/step | xargs cat'];
          return (
            (await lvm.vm.run(look, { reject: false })).stdout.includes('write zeros') || undefined
          );
        },
        LONG,
      );
      await claims.remove('default/large');
      await until('no LVs left', async () => (await lvm.volumes()).length === 0 || undefined, LONG);
    }, 900_000);

    test('are bound once populated, and leave nothing behind if deleted meanwhile', async () => {
      const claims = claimsOf(cluster.client, {
        storageClassName: 'thin',
        size: '304Mi',
        withinMs: LONG,
      });
      const create = (
        id: `${string}/${string}`,
        of: string,
        more: Partial<PersistentVolumeClaim['spec']>,
      ) => claims.create(id, { dataSourceRef: fromImage(of), ...more });
      await create('default/files', 'debian', {});
      await create('default/block', 'debian', { storageClassName: 'thick', volumeMode: 'Block' });
      for (const [id, content] of [
        ['default/files', 'ext4'] as const,
        ['default/block', 'Block'] as const,
      ]) {
        const { spec } = await claims.isBound(id);
        expect(await isFilled(content, spec.local?.path ?? '')).toBe(true);
      }
      await create('default/given-up', 'large', {
        ...{ storageClassName: 'thick', volumeMode: 'Block' },
        resources: { requests: { storage: '1300Mi' } },
      });
      await until(
        'the claim is being populated',
        async () => {
          const { stdout } = await lvm.vm.run(
            ['sh', '-c', 'grep -l "" /run/stowage/jobs/*/*/step | xargs cat'],
            {
              reject: false,
            },
          );
          return stdout.includes('Image default/large') || undefined;
        },
        LONG,
      );
      for (const id of ['given-up', 'files', 'block']) await claims.remove(`default/${id}`);
      await until('no LVs left', async () => (await lvm.volumes()).length === 0 || undefined, LONG);
    }, 900_000);
  });
});
