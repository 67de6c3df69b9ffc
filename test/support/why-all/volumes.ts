import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PODS, STORAGE_CLASSES } from '../../../src/api/resources.ts';
import type { VolumeSpec } from '../../../src/api/volume.ts';
import { LOCAL_CLASS } from '../cluster.ts';
import type { Broken } from './broken.ts';
import { NAMESPACE, type Scene } from './scene.ts';

const raw = (devicePath: string) =>
  ({ sparseLoopDevice: undefined, rawBlockDevice: { devicePath } }) as unknown as VolumeSpec;

const devicePath = (uid: string) => `/dev/disk/by-id/stowage-${uid}`;

/** Returns the path of a disk once it is plugged in. */
const pathOf = (at: Scene, name: string) => `${at.byId}-${name}`;

const isDeleted = (at: Scene, name: string) =>
  at.someone.shell(`kubectl delete volume ${name} --wait=false`);

/** Static Volumes. */
export const BROKEN_VOLUMES: readonly Broken[] = [
  {
    cause: 'StorageClassMissing',
    root: 'Volume classless',
    breaks: (at) => at.volume('classless', { storageClassName: 'other' }),
  },
  {
    cause: 'StorageClassInvalid',
    root: 'Volume badclass',
    async breaks(at) {
      const parameters = { fsType: 'ext4', mkfsOptions: '["-U", "x"]' };
      await at.client.create(STORAGE_CLASSES, {
        ...{ ...LOCAL_CLASS, metadata: { name: 'bad' }, parameters },
      });
      await at.volume('badclass', { storageClassName: 'bad' });
    },
    follow: { between: `sed -i 's/"-U", "x"/"-m", "0"/' class.yaml` },
  },
  {
    cause: 'InvalidSpec',
    root: 'Volume sizeless',
    breaks: (at) =>
      at.volume('sizeless', {
        sparseLoopDevice: { size: '0', directory: join(at.folder, 'static') },
      }),
    follow: { between: `sed -i 's/size: .*/size: 10Mi/' volume.yaml` },
  },
  {
    cause: 'NameTaken',
    root: 'Volume taken',
    async breaks(at) {
      await at.foreignPv('taken', 'spare');
      await at.volume('taken');
    },
  },
  {
    cause: 'SignatureFound',
    root: 'Volume signed',
    async breaks(at) {
      const { path } = await at.disk('signed');
      await at.sh(`mkfs.ext4 -q -F ${path}`);
      await at.volume('signed', raw(path));
    },
  },
  {
    cause: 'DeviceInUse',
    root: 'Volume used',
    async breaks(at) {
      const { path } = await at.disk('used');
      await at.stack(path);
      await at.volume('used', raw(path));
    },
    person: (at) => at.unstack(),
  },
  {
    cause: 'DeviceOfAnother',
    root: 'Volume second',
    async sound(at) {
      await at.volume('first', { ...raw((await at.disk('shared')).path), onDelete: 'Delete' });
      await at.available('first');
    },
    breaks: (at) => at.volume('second', raw(at.disks.get('shared')?.path ?? '')),
    next: ['SignatureFound', 'Volume second'],
  },
  {
    cause: 'DeviceMissing',
    root: 'Volume unplugged',
    breaks: (at) => at.volume('unplugged', raw(pathOf(at, 'unplugged'))),
    async person(at) {
      await symlink((await at.disk('unplugged')).path, pathOf(at, 'unplugged'));
    },
  },
  {
    cause: 'Failed',
    root: 'Volume misplugged',
    async breaks(at) {
      const file = join(at.folder, 'plain');
      await writeFile(file, '');
      await symlink(file, pathOf(at, 'misplugged'));
      await at.volume('misplugged', raw(pathOf(at, 'misplugged')));
    },
    async person(at) {
      await rm(pathOf(at, 'misplugged'));
      await symlink((await at.disk('misplugged')).path, pathOf(at, 'misplugged'));
    },
  },
  {
    cause: 'NoSpace',
    root: 'Volume large',
    async breaks(at) {
      const directory = await at.tmpfs('small', '64k');
      await at.volume('large', { sparseLoopDevice: { size: '10Mi', directory } });
    },
    person: (at) => at.sh(`mount -o remount,size=64m ${join(at.folder, 'small')}`),
  },
  {
    cause: 'DirectoryNotMounted',
    root: 'Volume unmounted',
    async breaks(at) {
      const directory = join(at.folder, 'unmounted');
      await mkdir(directory);
      await at.volume('unmounted', {
        sparseLoopDevice: { size: '10Mi', directory, requireMount: true },
      });
    },
    // Stands for the line that a person adds to /etc/fstab.
    person: (at) =>
      at.someone.program(
        'mount',
        `[ "$*" = -a ] && exec /bin/mount -t tmpfs -o size=64m,mode=0700 tmpfs ${join(at.folder, 'unmounted')}`,
      ),
  },
  {
    cause: 'Paused',
    root: 'Volume paused',
    breaks: (at) => at.volume('paused', {}, { annotations: { 'stowage.dev/paused': 'true' } }),
  },
  {
    cause: 'NotTakenUp',
    root: 'Volume elsewhere',
    breaks: (at) => at.volume('elsewhere', { nodeName: 'n2' }),
    // Restart with a transport that reaches n2, as for a feature gate.
    follow: false,
    person: (at) => at.watch('--local-node', 'n1,n2'),
  },
  {
    cause: 'Unavailable',
    root: 'Volume twice',
    async sound(at) {
      await at.volume('twice');
      await at.available('twice');
    },
    breaks: async (at) =>
      at.sh(`losetup --find ${join(at.folder, 'static', await at.uid('twice'))}`),
    async person(at) {
      const uid = await at.uid('twice');
      await at.sh(
        `kept=$(readlink -f ${devicePath(uid)}); for each in $(losetup -nO NAME -j ${join(at.folder, 'static', uid)}); do [ $each = $kept ] || losetup -d $each; done`,
      );
    },
  },
  {
    cause: 'ForeignFinalizer',
    root: 'Volume audited',
    async sound(at) {
      await at.volume('audited', {}, { finalizers: ['example.com/audit'] });
      await at.available('audited');
    },
    breaks: (at) => isDeleted(at, 'audited'),
  },
  {
    cause: 'WaitingForUnmount',
    root: 'Node n1',
    objects: ['Volume mounted'],
    async sound(at) {
      await at.volume('mounted');
      await at.available('mounted');
    },
    async breaks(at) {
      const point = join(at.folder, 'point');
      await mkdir(point);
      await at.sh(`mount ${devicePath(await at.uid('mounted'))} ${point}`);
      await isDeleted(at, 'mounted');
    },
  },
  {
    cause: 'ClaimHoldsDeletion',
    root: 'PersistentVolumeClaim test/kept',
    objects: ['Volume kept'],
    async sound(at) {
      await at.volume('kept');
      await at.claim('kept', { storageClassName: 'local', volumeName: 'kept' });
      await at.bound('kept');
    },
    breaks: (at) => isDeleted(at, 'kept'),
  },
  {
    cause: 'WrongNode',
    root: 'Volume wrong',
    objects: ['Pod test/wrong'],
    async sound(at) {
      await at.volume('wrong');
      await at.claim('wrong', { storageClassName: 'local', volumeName: 'wrong' });
      await at.bound('wrong');
    },
    breaks: (at) => at.pod('wrong', 'wrong', { nodeName: 'n2' }),
    async person(at) {
      await at.client.delete(PODS, 'wrong', { namespace: NAMESPACE });
      await at.pod('wrong-again', 'wrong');
    },
  },
];
