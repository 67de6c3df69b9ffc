import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

const SELECTED = 'volume.kubernetes.io/selected-node=n1';

/** A claim of a dynamic class makes its own volume, and takes it away again. */
export async function claims(stage: Stage): Promise<void> {
  await dynamicClass(stage);
  await stage.say('A claim of the class, and a pod that uses it.');
  await stage.apply(`${claim('data', 'default')}---\n${pod('data', 'default')}`);
  await stage.say('The demo has no scheduler and runs no pods: it selects the node by hand.');
  await stage.type('kubectl', ['annotate', 'pvc', 'data', SELECTED]);
  await isBound(stage, 'default', 'data');
  await stage.stowage('get', 'volumes');
  await stage.say('The claim is deleted, and its volume with it.');
  await removePods(stage);
  await stage.type('kubectl', ['delete', 'pvc', 'data']);
  await stage.type('kubectl', ['wait', 'volumes', '--all', '--for=delete', '--timeout=30s']);
}

/** A snapshot, restored into another namespace: refused, granted, bound. */
export async function snapshots(stage: Stage): Promise<void> {
  const { stowage, type } = stage;
  await dynamicClass(stage);
  for (const name of ['prod', 'test']) await stage.run('kubectl', 'create', 'namespace', name);
  await stage.run('stowage', 'create', 'snapshotclass', 'demo', '--default');
  await stage.say('A claim in the namespace prod, and a snapshot of it.');
  await stage.apply(claim('foo', 'prod'));
  await used(stage, 'prod', 'foo');
  await isBound(stage, 'prod', 'foo');
  await stowage('create', 'snapshot', 'prod/foo-backup', '--pvc', 'foo', '--wait');

  await stage.say(
    'The snapshot is restored into the namespace test. Without a grant, the claim waits.',
  );
  const to = ['--to', 'test/foo-testing'];
  await stowage('restore', 'snapshot', 'prod/foo-backup', ...to);
  await used(stage, 'test', 'foo-testing');
  await stowage('why', 'pvc', 'test/foo-testing');

  await stage.say('An owner of the namespace prod grants the use of the snapshot.');
  await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
  await isBound(stage, 'test', 'foo-testing');
  await stowage('get', 'grants', '-n', 'prod');
  await stage.say('The claims and the snapshot are deleted.');
  await removePods(stage);
  await type.call(stage, 'kubectl', ['-n', 'test', 'delete', 'pvc', 'foo-testing']);
  await type.call(stage, 'kubectl', ['-n', 'prod', 'delete', 'volumesnapshot', 'foo-backup']);
  await type.call(stage, 'kubectl', ['-n', 'prod', 'delete', 'pvc', 'foo']);
  await type.call(stage, 'kubectl', ['wait', 'volumes', '--all', '--for=delete', '--timeout=30s']);
}

const SOURCES = '/etc/stowage/sources.conf';

/** Fills a claim from an Image, and shows a claim whose source has an unregistered kind. */
export async function images(stage: Stage): Promise<void> {
  if (existsSync(SOURCES)) {
    await stage.say(
      `Left out: Images. This machine has a ${SOURCES}, which the demo leaves alone.`,
    );
    return;
  }
  await dynamicClass(stage);
  const folder = join(stage.folder, 'images');
  await mkdir(folder);
  await writeFile(join(folder, 'hello.img'), 'an image of a disk'.padEnd(1 << 20, '.'));
  const isNew = !existsSync('/etc/stowage');
  stage.onEnd(() => rm(isNew ? '/etc/stowage' : SOURCES, { recursive: true, force: true }));
  await mkdir('/etc/stowage', { recursive: true });
  await stage.say('The kind Image is registered, and the node lists a directory of images.');
  await stage.stowage('register', 'populator', 'image', '--node', 'Image');
  await stage.type('tee', [SOURCES], { input: `path ${folder}\n` });

  await stage.say('An Image, and a claim that is filled from it.');
  await stage.apply(`apiVersion: stowage.dev/v1alpha1
kind: Image
metadata: { name: hello, namespace: default }
spec: { source: { path: ${join(folder, 'hello.img')} } }
---
${claim('root', 'default', 'stowage.dev', 'Image', 'hello')}`);
  await used(stage, 'default', 'root');
  await isBound(stage, 'default', 'root');
  const volume = await stage.run(
    'kubectl',
    'get',
    'pvc',
    'root',
    '-o',
    'jsonpath={.spec.volumeName}',
  );
  await stage.type('head', ['-c', '18', await pathOf(stage, volume)]);

  await stage.say(
    'A claim whose source has an unregistered kind is refused. The command why names the reason.',
  );
  await stage.apply(claim('odd', 'default', 'example.com', 'Tape', 'old'));
  await used(stage, 'default', 'odd');
  await stage
    .type('kubectl', [
      ...['wait', '--for=create', 'event', '--field-selector=reason=UnrecognizedDataSourceKind'],
      '--timeout=30s',
    ])
    .catch(() => {});
  await stage.stowage('why', 'pvc', 'odd');
  await removePods(stage);
  await stage.type('kubectl', ['delete', 'pvc', 'odd', 'root']);
  await stage.type('kubectl', ['wait', 'volumes', '--all', '--for=delete', '--timeout=30s']);
}

const pathOf = (stage: Stage, volume: string) =>
  stage.run('kubectl', 'get', 'volume', volume, '-o', 'jsonpath={.status.devicePath}');

/** Creates a pod on n1 that uses the claim, as a user and the scheduler do. */
async function used(stage: Stage, namespace: string, name: string): Promise<void> {
  await stage.run('kubectl', 'annotate', '-n', namespace, 'pvc', name, SELECTED);
  const file = join(stage.folder, `${name}.yaml`);
  await writeFile(file, pod(name, namespace));
  await stage.run('kubectl', 'apply', '-f', file);
}

/** Deletes all pods at once: no kubelet ends them. */
const removePods = (stage: Stage) =>
  stage.run('kubectl', 'delete', 'pods', '-A', '--all', '--grace-period=0', '--force');

/** Creates the dynamic class, once. */
async function dynamicClass(stage: Stage): Promise<void> {
  const found = await stage.run('kubectl', 'get', 'sc', '-o', 'name');
  if (found.includes('/demo-fast')) return;
  await stage.say('A class whose claims make their own volumes, in a directory of the node.');
  const folder = join(stage.folder, 'volumes');
  await stage.stowage('create', 'storageclass', 'demo-fast', '--dynamic', '--directory', folder);
}

const isBound = (stage: Stage, namespace: string, name: string) =>
  stage.type('kubectl', [
    ...['-n', namespace, 'wait', `pvc/${name}`, '--for=jsonpath={.status.phase}=Bound'],
    '--timeout=30s',
  ]);

const claim = (name: string, namespace: string, group = '', kind = '', source = '') =>
  `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  storageClassName: demo-fast
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 64Mi } }
${kind === '' ? '' : `  volumeMode: Block\n  dataSourceRef: { apiGroup: ${group}, kind: ${kind}, name: ${source} }\n`}`;

const pod = (claim: string, namespace: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${claim}, namespace: ${namespace} }
spec:
  nodeName: n1
  containers: [{ name: main, image: busybox }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: ${claim} } }]
`;
