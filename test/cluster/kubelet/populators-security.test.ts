import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { KubeNode, Pod, Toleration } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { NAMESPACES, NODES, PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/api/resources.ts';
import { describeAsRoot } from '../../support/root.ts';
import { IMAGE } from './image.ts';
import { NAMESPACE } from './pods.ts';
import { startFaultyScene } from './populators-faulty.ts';
import { FILL, OWN } from './populators-scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

const TAINT = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
const TOLERATED = { key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' };

describeAsRoot('pods of populators in a cluster with policies', () => {
  let scene: Awaited<ReturnType<typeof startFaultyScene>>;

  beforeAll(async () => {
    scene = await startFaultyScene();
    await scene.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' });
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await scene.client.patch<KubeObject>(NAMESPACES, OWN, { metadata: { labels } });
    await scene.kind.register('hello', FILL);
  }, 600_000);
  afterAll(() => scene?.stop());

  const taint = (...taints: object[]) =>
    scene.client.patch<KubeNode>(NODES, scene.node, { spec: { taints } });

  /** Creates a pod that reads the claim `name`. */
  const read = (name: string, tolerations: Toleration[]) =>
    scene.client.create<Pod>(
      PODS,
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: {
          ...{ restartPolicy: 'Never', hostNetwork: true, tolerations },
          automountServiceAccountToken: false,
          containers: [
            {
              ...{ name: 'c', image: IMAGE, imagePullPolicy: 'Never' },
              command: ['sh', '-c', 'cat /data/hello.txt'],
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
        },
      } as Pod,
      { namespace: NAMESPACE },
    );

  test('a claim is filled under Pod Security restricted, on a node that its pod tolerates', async () => {
    await taint(TAINT);
    try {
      await scene.createClaim('data', { storageClassName: 'waits' });
      await read('data', [TOLERATED]);
      await scene.isBound('data');
      await scene.isClean();
    } finally {
      await taint();
    }
    await scene.client.delete(PODS, 'data', { namespace: NAMESPACE });
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
    await scene.isEmpty();
  });

  test('a pod that tolerates the taint later moves the pod that fills its claim', async () => {
    await taint(TAINT);
    try {
      await scene.claim('early');
      await scene.isTold('early', 'had untolerated taint');
      expect(await scene.why('early')).toContain('had untolerated taint');
      await read('early', [TOLERATED]);
      await scene.isBound('early');
    } finally {
      await taint();
    }
    await scene.isClean();
    await scene.client.delete(PODS, 'early', { namespace: NAMESPACE });
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'early');
    await scene.isEmpty();
  });

  test('a pod as root is refused, and why names the policy', async () => {
    await scene.kind.register('hello', FILL, '--run-as-user', '0');
    await scene.claim('root');
    await scene.isTold('root', 'violates PodSecurity "restricted');
    const why = await scene.why('root');
    expect(why).toContain('violates PodSecurity "restricted');
    expect(why).toContain('spec.pod.securityContext');
    await scene.kind.register('hello', FILL);
    await scene.isBound('root');
    await scene.isClean();
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'root');
    await scene.isEmpty();
  });
});
