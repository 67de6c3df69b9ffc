import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { kubectlIn } from '../support/kubectl.ts';
import { describeAsRoot } from '../support/root.ts';
import { standIns } from '../support/sandbox/components.ts';
import { mountsIn } from '../support/sandbox/mounts.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { onNode } from '../support/volumes.ts';

/**
 * Pods with volumes through stock kubectl, with the sandbox's scheduler and kubelet. The mounts are
 * real.
 */
describeAsRoot('a pod', () => {
  let sandbox: Sandbox;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let kubectl: ReturnType<typeof kubectlIn>;
  const data = () => join(folder.path, 'data');
  const podsFolder = () => join(folder.path, 'kubelet/pods');
  const mounted = () => readFileSync('/proc/self/mounts', 'utf8').includes(podsFolder());

  beforeAll(async () => {
    folder = await temporaryDirectory('kubelet');
    kubectl = kubectlIn(folder.path);
    mkdirSync(data());
    writeFileSync(join(data(), 'hello'), 'world');
  });
  afterAll(async () => {
    expect(mounted()).toBe(false);
    await folder.remove();
  });
  beforeEach(async () => {
    const mounts = mountsIn(join(folder.path, 'kubelet'));
    sandbox = await startSandbox({
      crds: [],
      ...standIns({ scheduler: true, kubelet: { nodes: ['n1'], mounts } }),
    });
    kubectl.use(sandbox);
    for (const object of objects()) await kubectl.applied(object);
  });
  afterEach(() => sandbox.stop());

  const objects = (volumeMode = 'Filesystem') => [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `v-${volumeMode.toLowerCase()}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        volumeMode,
        local: { path: data() },
        nodeAffinity: onNode('n1'),
      },
    },
  ];
  const using = (volumeMode = 'Filesystem') => [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        volumeMode,
        resources: { requests: { storage: '1Gi' } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'c', image: 'x' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
      },
    },
  ];

  test('is given a node, sees its data, and leaves no mount', async () => {
    for (const object of using()) await kubectl.applied(object);
    await kubectl.expectOutput('wait --for=condition=Ready pod/p --timeout=120s', /condition met$/);
    await kubectl.expectOutput('get pod p --no-headers', /^p +1\/1 +Running +0 +\d+s$/);
    const { out: uid } = await kubectl.kubectl('get pod p -o jsonpath={.metadata.uid}');
    const target = join(podsFolder(), uid, 'volumes/kubernetes.io~local-volume/v-filesystem');
    expect(readFileSync(join(target, 'hello'), 'utf8')).toBe('world');
    await kubectl.expectOutput('delete pod p', 'pod "p" deleted');
    expect([mounted(), existsSync(target), existsSync(join(data(), 'hello'))]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('is not started with a volume that cannot be mounted here', async () => {
    for (const object of objects('Block').slice(2)) await kubectl.applied(object);
    for (const object of using('Block')) await kubectl.applied(object);
    await kubectl.expectOutput(
      'wait --for=condition=PodScheduled pod/p --timeout=120s',
      /condition met$/,
    );
    await kubectl.expectOutput(
      'get pod p --no-headers',
      /^p +0\/1 +(Pending|ContainerCreating) +0 +\d+s$/,
    );
    await kubectl.expectOutput('delete pod p', 'pod "p" deleted');
    await kubectl.expectOutput(
      'get events --no-headers',
      /Warning +FailedMount +pod\/p +the sandbox mounts local volumes of mode Filesystem only, not v-block/,
    );
  });
});
