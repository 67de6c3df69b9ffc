import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDisk } from '../../test/support/disks.ts';
import type { Stage } from './stage.ts';

/** A volume of each kind that any machine can have: written, grown, deleted. */
export async function volumes(stage: Stage): Promise<void> {
  const { say, stowage, type, folder } = bound(stage);
  await say('A storage class, and a volume of it: a sparse file with ext4, as a loop device.');
  await stowage('create', 'storageclass', 'demo', '--static', '--fs-type', 'ext4');
  const node = ['--node', 'n1', '--storage-class', 'demo'];
  await stowage('create', 'volume', 'demo', ...node, '--size', '1Gi', '--wait');
  await type('kubectl', ['get', 'persistentvolume', 'demo']);

  await say("The kubelet's part, by hand: mount the persistent path, write a file, read it again.");
  const mountPoint = join(folder, 'mnt');
  await mkdir(mountPoint);
  stage.onEnd(() => stage.run('umount', '--quiet', mountPoint).catch(() => {}));
  const path = await stage.run(
    'kubectl',
    'get',
    'volume',
    'demo',
    '-o',
    'jsonpath={.status.devicePath}',
  );
  await type('mount', [path, mountPoint]);
  await type('tee', [join(mountPoint, 'hello')], { input: 'hello from the first mount' });
  await type('umount', [mountPoint]);
  await type('mount', [path, mountPoint]);
  const read = await readFile(join(mountPoint, 'hello'), 'utf8');
  await type('cat', [join(mountPoint, 'hello')]);
  if (read !== 'hello from the first mount') throw new Error(`read back: ${JSON.stringify(read)}`);
  await type('umount', [mountPoint]);

  await say('A larger size: file, device and file system grow.');
  const larger = '{"spec":{"sparseLoopDevice":{"size":"2Gi"}}}';
  await type('kubectl', ['patch', 'volume', 'demo', '--type=merge', '-p', larger]);
  const grown = '--for=jsonpath={.status.capacity}=2Gi';
  await type('kubectl', ['wait', 'volume/demo', grown, '--timeout=30s']);

  await say(
    'The other kinds, from a manifest: mode Block in a file, XFS on a partition, a bare disk.',
  );
  await stowage('create', 'storageclass', 'demo-xfs', '--static', '--fs-type', 'xfs');
  const divided = await makeDisk(folder, 'divided', 768n << 20n, 'gpt');
  stage.onEnd(() => divided.remove());
  const empty = await makeDisk(folder, 'empty', 64n << 20n);
  stage.onEnd(() => empty.remove());
  const manifest = [
    volume('demo-block', 'demo', '  mode: Block\n  sparseLoopDevice: { size: 64Mi }'),
    volume('demo-part', 'demo-xfs', raw(divided.partition)),
    volume('demo-bare', 'demo', `  mode: Block\n${raw(empty.path)}`),
  ].join('---\n');
  await type('stowage', ['create', '-f', '-', '--wait'], { input: manifest });
  await stowage('get', 'volumes', '-o', 'wide');
  await say(
    'Left out: logical volumes. They are made in the same way: stowage create volume --vg.',
  );

  await say('Deleted: devices are detached, files removed, signatures wiped; then the objects go.');
  await stowage('delete', 'volumes', 'demo', 'demo-block', 'demo-part', 'demo-bare', '--wait');
}

/** Consent: a disk that carries data is refused, until exactly that data is named. */
export async function consent(stage: Stage): Promise<void> {
  const { say, stowage, type, folder } = bound(stage);
  await say('A disk of the node (here a loop device) already contains a file system.');
  const disk = await makeDisk(folder, 'taken', 512n << 20n);
  stage.onEnd(() => disk.remove());
  await type('mkfs.ext4', ['-q', '-F', disk.path]);
  await stage.run('stowage', 'create', 'storageclass', 'demo-disk', '--static');
  const create = [
    ...['create', 'volume', 'demo-disk', '--node', 'n1', '--storage-class', 'demo-disk'],
    ...['--device', disk.path, '--on-delete', 'Delete'],
  ];
  const plan = ['--dry-run=plan', '--ssh-config', join(folder, 'ssh_config')];
  await say(
    'A dry run plans the volume. It is refused, and the message names the data to consent to.',
  );
  const { stderr } = await type('stowage', [...create, ...plan], { exit: 5 });
  const overwrite = /\(--overwrite\) to "([^"]+)"/.exec(stderr)?.[1] ?? '';

  await say('With a consent that names this data, the dry run prints the commands for the node.');
  await stowage(...create, '--overwrite', overwrite, ...plan);
  await say('Without the dry run, the commands run.');
  await stowage(...create, '--overwrite', overwrite, '--yes', '--wait');
  await stowage('delete', 'volume', 'demo-disk', '--wait');
}

/** Returns the stage's methods by name. */
const bound = (stage: Stage) => ({
  ...{ folder: stage.folder, stowage: stage.stowage },
  say: (text: string) => stage.say(text),
  type: stage.type.bind(stage),
});

const raw = (device: string) => `  onDelete: Delete\n  rawBlockDevice: { devicePath: ${device} }`;

const volume = (
  name: string,
  storageClass: string,
  kind: string,
) => `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata: { name: ${name} }
spec:
  nodeName: n1
  storageClassName: ${storageClass}
${kind}
`;
