import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../../src/api/resources.ts';
import { describeAsRoot } from '../../support/root.ts';
import { NAMESPACE } from './pods.ts';
import { type FaultyScene, HALF, startFaultyScene } from './populators-faulty.ts';
import { FILL, OWN } from './populators-scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

const QUOTAS: Resource = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};
const SECRETS: Resource = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
};

const SLOWLY = `sleep 5; ${FILL}`;

describeAsRoot('faults while a real pod populates a claim', () => {
  let scene: FaultyScene;

  beforeAll(async () => {
    scene = await startFaultyScene();
  }, 600_000);
  afterEach(() => scene.clear());
  afterAll(() => scene?.stop());

  test('recreates a deleted prime claim', async () => {
    await scene.kind.register('hello', HALF);
    const uid = await scene.claim('prime');
    const { metadata } = await scene.runs(uid);
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, `prime-${uid}`, OWN);
    const next = await scene.isAnother(uid, metadata.uid ?? '');
    // The first pod's data went with its volume.
    await scene.remove(PODS, next.metadata.name, OWN);
    await scene.isFilled('prime');
  });

  test('completes after the populator and the source are deleted', async () => {
    await scene.kind.register('hello', SLOWLY);
    const uid = await scene.claim('alone');
    await scene.runs(uid);
    const later = { spec: { fileContents: 'later' } };
    await scene.client.patch(scene.kind.resource, 'example', later, { namespace: NAMESPACE });
    await scene.client.delete(POPULATOR_DEFINITIONS, 'hello');
    await scene.client.delete(VOLUME_POPULATORS, 'hello');
    await scene.remove(scene.kind.resource, 'example');
    await scene.isFilled('alone');
    await scene.kind.source('example', NAMESPACE, 'whole');
  });

  test('reports an image pull error once, and recreates the pod with the fixed image', async () => {
    await scene.kind.register('hello', FILL, '--image', 'localhost/none:test');
    const uid = await scene.claim('image');
    await scene.isTold('image', `pod ${OWN}/populate-${uid} does not run: ErrImagePull`);
    expect(await scene.why('image')).toMatch(/does not run: (ErrImagePull|ImagePullBackOff)/);
    await scene.kind.register('hello', FILL);
    const told = await scene.eventsOf('image');
    expect(told.filter((event) => event.startsWith('PopulatorCreationError'))).toHaveLength(1);
    await scene.isFilled('image');
  });

  test('reports a missing Secret, and waits for it', async () => {
    await scene.kind.register('hello', FILL, '--secret-env', 'TOKEN=late/token');
    await scene.claim('secret');
    await scene.isTold(
      'secret',
      'does not run: CreateContainerConfigError: secret "late" not found',
    );
    await scene.client.create<KubeObject>(
      SECRETS,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'late' },
        data: { token: 'eA==' },
      } as KubeObject,
      { namespace: OWN },
    );
    await scene.isFilled('secret');
  });

  test.each([
    ['persistentvolumeclaims', 'PopulatorPVCPrimeCreationError: prime claim stowage/prime-'],
    ['pods', 'PopulatorCreationError: populator pod stowage/populate-'],
  ])('reports an exceeded quota for %s once, and retries', async (counted, event) => {
    await scene.kind.register('hello', FILL);
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { [counted]: '0' } },
    } as KubeObject;
    await scene.client.create(QUOTAS, quota, { namespace: OWN });
    await scene.isEnforced(QUOTAS, 'none');
    const name = `quota-${counted}`;
    await scene.claim(name);
    await scene.isTold(name, event);
    expect(await scene.why(name)).toContain('exceeded quota: none');
    await scene.remove(QUOTAS, 'none', OWN);
    await scene.isFilled(name);
    const told = (await scene.eventsOf(name)).filter((each) => each.includes('exceeded quota'));
    expect(told).toHaveLength(1);
  });
});
