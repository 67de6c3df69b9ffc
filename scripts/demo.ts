/**
 * `npm run demo`: takes volumes of each kind from the command line to a device on a node and back,
 * on this machine alone. Ends every process that it starts, and prints the commands that a user
 * would type. Without root, shows only the parts that need no node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { makeDisk } from '../test/support/disks.ts';
import { leftovers } from '../test/support/leftovers.ts';
import { startSshd } from '../test/support/sshd.ts';
import { ensureUdev } from '../test/support/udev.ts';
import { until } from '../test/support/until.ts';

const STOWAGE = 'bin/stowage';
const isRoot = process.getuid?.() === 0;
const folder = await mkdtemp(join(tmpdir(), 'stowage-demo-'));
const kubeconfig = join(folder, 'kubeconfig');
/** Clean-up functions; the last one runs first. */
const cleanUps: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];

const say = (text: string) => console.log(`\n# ${text}`);

/** Shows a command as a user would type it, runs it, and shows what it prints. */
async function type(command: string, args: readonly string[], input?: string): Promise<string> {
  console.log(`$ ${commandLine(command, args)}`);
  const result = await execa(command, args, {
    env: { KUBECONFIG: kubeconfig },
    all: true,
    ...(input === undefined ? {} : { input }),
  });
  if (result.all !== '') console.log(result.all);
  return result.stdout;
}

/** Shows a command as `type` does, and throws unless it fails with the exit code. */
async function refused(args: readonly string[], exitCode: number): Promise<string> {
  console.log(`$ ${commandLine(STOWAGE, args)}`);
  const result = await execa(STOWAGE, args, {
    env: { KUBECONFIG: kubeconfig },
    reject: false,
    all: true,
  });
  console.log(`${result.all}\n(exit status ${result.exitCode})`);
  if (result.exitCode !== exitCode)
    throw new Error(`not refused with ${exitCode}, but ${result.exitCode}`);
  return result.stderr;
}

/** Returns a command line, quoted where a shell needs it. */
const commandLine = (command: string, args: readonly string[]) =>
  [command === STOWAGE ? 'stowage' : command, ...args]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`))
    .join(' ');

/** Shows and starts a long-running command; the clean-up ends it. */
async function start(args: readonly string[]): Promise<ChildProcess> {
  console.log(`$ stowage ${args.join(' ')} &`);
  const log = join(folder, `${args[0]}.log`);
  const child = spawn(STOWAGE, args, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => lines.push(chunk));
  const ended = once(child, 'exit');
  cleanUps.push(async () => {
    child.kill('SIGTERM');
    await ended;
    await writeFile(log, Buffer.concat(lines));
  });
  return child;
}

const CREATE = [
  'create',
  'volume',
  'demo',
  '--node',
  'n1',
  '--size',
  '1Gi',
  '--storage-class',
  'demo',
];

const isThere = async (program: string) =>
  (await execa('sh', ['-c', 'command -v "$1"', 'sh', program], { reject: false })).exitCode === 0;

const STORAGE_CLASS = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: demo
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
reclaimPolicy: Retain
parameters:
  fsType: ext4
  mkfsOptions: '["-m", "0"]'
`;

async function demo(): Promise<void> {
  say('An API server in memory, with the Volume CRD in it. Any cluster would do.');
  await start(['sandbox', '--port', '0', '--kubeconfig-out', kubeconfig]);
  await until('the kubeconfig of the sandbox', () =>
    access(kubeconfig).then(
      () => true,
      () => undefined,
    ),
  );

  if (!(await isThere('kubectl'))) {
    say('Left out: all that is shown with kubectl, which is not installed.');
    await type(STOWAGE, [...CREATE, '--dry-run=server', '-o', 'yaml']);
    return;
  }

  say('A storage class: which file system, and made how.');
  console.log(STORAGE_CLASS.trimEnd());
  await type('kubectl', ['apply', '-f', '-'], STORAGE_CLASS);

  if (!isRoot) {
    say('What would be sent, checked by the server and not stored.');
    await type(STOWAGE, [...CREATE, '--dry-run=server', '-o', 'yaml']);
    say('Left out: the node (sshd), the loop device and the mount. They need root.');
    return;
  }

  say(
    'A node: an sshd on loopback, with keys of its own. The node has nothing of Stowage installed.',
  );
  cleanUps.push(await ensureUdev());
  const sshd = await startSshd({ nodes: ['n1'] });
  cleanUps.push(() => sshd.stop());
  console.log(`listens on 127.0.0.1:${sshd.port}; its host key is known under the name n1`);

  say('The daemon, which acts on nodes over ssh.');
  await start(['watch', '--transport', 'ssh', '--ssh-config', sshd.configFile]);

  say('A volume: a sparse file on the node, with a file system, as a loop device.');
  cleanUps.push(() =>
    // A no-op if the demo completed; else deletes the Volume while the daemon can still clean up.
    execa('kubectl', ['delete', 'volume', 'demo', '--ignore-not-found', '--timeout=20s'], {
      env: { KUBECONFIG: kubeconfig },
    }),
  );
  await type(STOWAGE, [...CREATE, '--wait']);
  await type(STOWAGE, ['get', 'volumes', '-o', 'wide']);
  await type('kubectl', [
    'get',
    'persistentvolume',
    'demo',
    '-o',
    'jsonpath={.spec.local.path} {.spec.capacity.storage} {.status.phase}{"\\n"}',
  ]);
  const volume = JSON.parse(
    (
      await execa(STOWAGE, ['get', 'volume', 'demo', '-o', 'json'], {
        env: { KUBECONFIG: kubeconfig },
      })
    ).stdout,
  ) as { status: { devicePath: string } };

  say(
    'What the kubelet would do for a pod: mount the persistent path. A file is written, and read after a second mount.',
  );
  const mountPoint = join(folder, 'mnt');
  await mkdir(mountPoint);
  const path = volume.status.devicePath;
  await type('mount', [path, mountPoint]);
  cleanUps.push(() => execa('umount', [mountPoint], { reject: false }));
  await type('tee', [join(mountPoint, 'hello')], 'hello from the first mount');
  await type('umount', [mountPoint]);
  await type('mount', [path, mountPoint]);
  const read = await readFile(join(mountPoint, 'hello'), 'utf8');
  await type('cat', [join(mountPoint, 'hello')]);
  if (read !== 'hello from the first mount') throw new Error(`read back: ${JSON.stringify(read)}`);
  await type('umount', [mountPoint]);

  say('A larger size: file, device and file system grow.');
  await type('kubectl', [
    'patch',
    'volume',
    'demo',
    '--type=merge',
    '-p',
    '{"spec":{"sparseLoopDevice":{"size":"2Gi"}}}',
  ]);
  await type('kubectl', [
    'wait',
    'volume/demo',
    '--for=jsonpath={.status.capacity}=2Gi',
    '--timeout=30s',
  ]);

  const others = await otherKinds(sshd.configFile);

  const uids = (
    await execa('kubectl', ['get', 'volumes', '-o', 'jsonpath={.items[*].metadata.uid}'], {
      env: { KUBECONFIG: kubeconfig },
    })
  ).stdout.split(' ');

  say('Deleted: devices are detached, files removed, signatures taken off, then the objects go.');
  await type(STOWAGE, ['delete', 'volume', 'demo', ...others, '--wait']);

  say(
    'A last look at the node and the cluster: loop devices, files, records, job folders, objects.',
  );
  // Ignores other storage of this machine: the name of everything of a Volume contains its UID.
  const left = (await leftovers({ uids })).filter((each) => uids.some((uid) => each.includes(uid)));
  const objects = (
    await type('kubectl', ['get', 'volumes,persistentvolumes', '-o', 'name'])
  ).trim();
  if (left.length > 0 || objects !== '') {
    throw new Error(`left behind: ${[...left, objects].filter(Boolean).join('; ')}`);
  }
  console.log('nothing is left');
}

/** Shows a block-mode volume, a disk with data, and the other kinds. Returns the Volumes' names. */
async function otherKinds(sshConfig: string): Promise<string[]> {
  const node = ['--node', 'n1', '--storage-class', 'demo'];
  say('Mode Block: a pod gets the device itself, here a partition in a sparse file.');
  const remove = (name: string) =>
    execa('kubectl', ['delete', 'volume', name, '--ignore-not-found', '--timeout=20s'], {
      env: { KUBECONFIG: kubeconfig },
    });
  cleanUps.push(() => remove('demo-block'));
  await type(STOWAGE, [...CREATE.with(2, 'demo-block'), '--mode', 'Block', '--wait']);

  say('A disk of the node (a loop device stands for it), on which somebody keeps a file system.');
  const disk = await makeDisk(folder, 'demo', 512n << 20n);
  cleanUps.push(() => disk.remove());
  cleanUps.push(() => remove('demo-disk'));
  await type('mkfs.ext4', ['-q', '-F', disk.path]);

  const create = [
    'create',
    'volume',
    'demo-disk',
    ...node,
    '--device',
    disk.path,
    '--on-delete',
    'Delete',
  ];
  const look = ['--dry-run=plan', '--transport', 'ssh', '--ssh-config', sshConfig];
  say('What would be done there? Nothing: it is refused, and why is said.');
  const said = await refused([...create, ...look], 5);
  const overwrite = /spec\.overwrite to "([^"]+)"/.exec(said)?.[1] ?? '';

  say('With a consent that names what is on it: the very commands that would run.');
  await type(STOWAGE, [...create, '--overwrite', overwrite, ...look]);
  say('And so it is made.');
  await type(STOWAGE, [...create, '--overwrite', overwrite, '--yes', '--wait']);

  say(
    'The other kinds, from a manifest: XFS in a sparse file and on a partition, and a whole disk as it is.',
  );
  await type(STOWAGE, ['create', 'storageclass', 'demo-xfs', '--static', '--fs-type', 'xfs']);
  const empty = await makeDisk(folder, 'empty', 64n << 20n);
  cleanUps.push(() => empty.remove());
  const divided = await makeDisk(folder, 'divided', 768n << 20n, 'gpt');
  cleanUps.push(() => divided.remove());
  const manifest = [
    volumeOf('demo-xfs', 'demo-xfs', '  sparseLoopDevice:\n    size: 1Gi'),
    volumeOf('demo-part', 'demo-xfs', rawOf(divided.partition)),
    volumeOf('demo-bare', 'demo', `  mode: Block\n${rawOf(empty.path)}`),
  ].join('---\n');
  const names = ['demo-xfs', 'demo-part', 'demo-bare'];
  for (const name of names) cleanUps.push(() => remove(name));
  console.log(manifest.trimEnd());
  await type(STOWAGE, ['create', '-f', '-', '--wait'], manifest);
  await type(STOWAGE, ['get', 'volumes', '-o', 'wide']);
  return ['demo-block', 'demo-disk', ...names];
}

const rawOf = (device: string) =>
  `  onDelete: Delete\n  rawBlockDevice:\n    devicePath: ${device}`;

const volumeOf = (
  name: string,
  storageClass: string,
  kind: string,
) => `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata:
  name: ${name}
spec:
  nodeName: n1
  storageClassName: ${storageClass}
${kind}
`;

/** Runs every clean-up function, even if an earlier one fails. */
async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.reverse()) {
    await undo().catch((error: unknown) => {
      console.error(`demo: could not clean up: ${error}`);
      process.exitCode = 1;
    });
  }
}

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => reject(new Error(`ended by ${signal}`)));
  }
});

const started = Date.now();
try {
  await Promise.race([demo(), interrupted]);
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  await cleanUp();
}
if (process.exitCode === 1) process.exit();
say(`Done in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
