import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeEvent, Pod } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  VOLUME_POPULATORS,
} from '../../../src/api/resources.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { HELLOS, helloReference } from '../../support/hello.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  populatorGrant,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { until } from '../../support/until.ts';

/**
 * Faults and changes while a claim is populated. The claim is bound with the right data, or an
 * event and `why` report the cause.
 */

let cluster: PopulationCluster;
/** Requests that the API server refuses, as `verb plural`, with its message. */
let refused: Map<string, string>;

beforeEach(async () => {
  refused = new Map();
  cluster = await startPopulationCluster();
  await cluster.startDaemon({
    client: refusing(cluster.client),
    retry: { startMs: 50, maxMs: 500 },
  });
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
});
afterEach(() => cluster.stop());

function refusing(client: KubeClient): KubeClient {
  return {
    ...client,
    create: (resource, object, options) => {
      const message =
        options?.namespace === OWN ? refused.get(`create ${resource.plural}`) : undefined;
      if (message === undefined) return client.create(resource, object, options);
      const status = { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message };
      return Promise.reject(new ApiError(status as never, 403, 'POST'));
    },
  };
}

const podNow = async () => (await cluster.all<Pod>(PODS, OWN))[0];
const why = async (name: string) => {
  const { out, err } = await cluster.stowage('why', 'pvc', `${NAMESPACE}/${name}`);
  return `${out}${err}`;
};
/** Returns the warning events as reason and count. */
const warnings = async (name: string) =>
  (await cluster.eventsOf(name))
    .filter(({ type }: KubeEvent) => type === 'Warning')
    .map(({ reason, count }) => `${reason} ${count}`);
const isFilled = async (name: string, text = 'Hello, world!') => {
  const { spec } = await cluster.isBound(name);
  expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': text });
  await cluster.isClean();
  expect(await cluster.persistentVolumes()).toHaveLength(1);
  expect(cluster.faults).toEqual([]);
};
const removeOwn = (resource: Resource, { metadata }: KubeObject) =>
  cluster.client.delete(resource, metadata.name, { namespace: OWN });

describe('deletion of objects while a claim is populated', () => {
  test('recreates a deleted prime claim, and populates the claim again', async () => {
    const goOn = cluster.hold();
    await cluster.createClaim('data');
    const pod = await cluster.untilPodRuns();
    const [prime] = await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN);
    await removeOwn(PERSISTENT_VOLUME_CLAIMS, prime as KubeObject);
    await cluster.untilPodRuns(pod.metadata.uid);
    goOn();
    await isFilled('data');
  });

  test('reports a deleted pod, and retries', async () => {
    const goOn = cluster.hold();
    await cluster.createClaim('data');
    const pod = await cluster.untilPodRuns();
    await removeOwn(PODS, pod);
    await cluster.isTold('data', 'before it ended. Stowage retries');
    expect(await why('data')).toMatch(/Blocked by: .*failed \(attempt 1 of 4\): it was deleted/);
    goOn();
    await isFilled('data');
    expect(await warnings('data')).toEqual(['PopulatorFailed 1']);
  });

  test('does not accept the result of a deleted pod that exits with 0', async () => {
    const goOn = cluster.hold();
    await cluster.createClaim('data');
    const pod = await cluster.untilPodRuns();
    const { name, uid } = pod.metadata;
    // The node removes the pod once this finalizer is gone.
    await cluster.client.patch(
      PODS,
      name,
      { metadata: { finalizers: ['test/hold'] } },
      { namespace: OWN },
    );
    await removeOwn(PODS, pod);
    const status = { phase: 'Succeeded' };
    await cluster.client.patch(
      PODS,
      name,
      { metadata: { uid }, status },
      { namespace: OWN, subresource: 'status' },
    );
    await cluster.isTold('data', 'it was deleted on node n1 before it ended');
    expect((await cluster.claimNow('data')).spec.volumeName).toBeUndefined();
    expect(await why('data')).toContain('another one is created when it is gone');
    await cluster.client.patch(PODS, name, { metadata: { finalizers: null } }, { namespace: OWN });
    goOn();
    await isFilled('data');
    expect(cluster.ran).toHaveLength(1);
  });

  test('does not stop the pod when its PopulatorDefinition is deleted', async () => {
    const goOn = cluster.hold();
    await cluster.createClaim('data');
    await cluster.untilPodRuns();
    await cluster.client.delete(POPULATOR_DEFINITIONS, 'hello');
    await cluster.client.delete(VOLUME_POPULATORS, 'hello');
    await cluster.isTold(
      'data',
      'the PopulatorDefinition for Hello.hello.example.com no longer exists',
    );
    expect(await why('data')).toMatch(/Blocked by: .*is being filled by pod stowage\/populate-/);
    goOn();
    await isFilled('data');
  });

  test('retries while the namespace of the daemon is being terminated', async () => {
    const goOn = cluster.hold();
    await cluster.createClaim('data');
    const pod = await cluster.untilPodRuns();
    const gone = 'namespace stowage is being terminated';
    for (const plural of ['pods', 'persistentvolumeclaims']) refused.set(`create ${plural}`, gone);
    const [prime] = await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN);
    await removeOwn(PERSISTENT_VOLUME_CLAIMS, prime as KubeObject);
    await removeOwn(PODS, pod);
    await cluster.isTold('data', `could not be created: ${gone}`);
    expect(await why('data')).toContain(gone);
    refused.clear();
    goOn();
    await isFilled('data');
  });
});

describe('a quota of the namespace', () => {
  test.each([
    ['persistentvolumeclaims', 'PopulatorPVCPrimeCreationError', 'prime claim stowage/prime-'],
    ['pods', 'PopulatorCreationError', 'populator pod stowage/populate-'],
  ])(
    'is reported once for %s, and the claim is populated once the quota allows it',
    async (plural, reason, what) => {
      let asked = 0;
      // The numbers in such a message vary.
      const message = () => `exceeded quota: small, used: ${++asked}, limited: 1`;
      refused.get = (key) =>
        key === `create ${plural}` && refused.size > 0 ? message() : undefined;
      refused.set('on', '');
      await cluster.createClaim('data');
      await cluster.isTold('data', `${reason}: ${what}`);
      await until('the creation is retried', async () => asked > 3 || undefined);
      expect(await why('data')).toContain('exceeded quota: small');
      expect(await warnings('data')).toEqual([`${reason} 1`]);
      refused.clear();
      await isFilled('data');
    },
  );
});

describe('a pod that does not start', () => {
  /** Sets the status that a kubelet reports if an image cannot be pulled. */
  async function hasNoImage(pod: Pod, reason: string): Promise<void> {
    const containerStatuses = [
      {
        ...{ name: 'populate', image: 'x', imageID: '', ready: false, restartCount: 0 },
        state: { waiting: { reason, message: 'no such image' } },
      },
    ];
    const { name, uid } = pod.metadata;
    await cluster.client.patch(
      PODS,
      name,
      { metadata: { uid }, status: { containerStatuses } },
      { namespace: OWN, subresource: 'status' },
    );
  }

  test('is reported once for a missing image, and recreated with the fixed image', async () => {
    cluster.world.mount = () => Promise.reject(new Error('it is not'));
    await cluster.createClaim('data');
    const pod = await until('the populator pod exists', podNow);
    for (const reason of ['ErrImagePull', 'ImagePullBackOff', 'ErrImagePull', 'ImagePullBackOff']) {
      await hasNoImage(pod, reason);
      await cluster.isTold('data', 'does not run: ErrImagePull: no such image');
    }
    expect(await why('data')).toMatch(
      /Blocked by: .*does not run: ImagePullBackOff: no such image/,
    );
    const image = { spec: { pod: { image: 'localhost/other:test' } } };
    await cluster.client.patch(POPULATOR_DEFINITIONS, 'hello', image);
    cluster.world.mount = async () => {};
    await isFilled('data');
    expect(await warnings('data')).toEqual(['PopulatorCreationError 1']);
    expect(cluster.ran[0]?.spec.containers).toMatchObject([{ image: 'localhost/other:test' }]);
  });

  test('is reported as unschedulable, and runs once a node is available', async () => {
    const drain = (unschedulable: boolean) =>
      cluster.client.patch(NODES, 'n1', { spec: { unschedulable } });
    await cluster.client.delete(NODES, 'n2');
    cluster.hold();
    await cluster.createClaim('data');
    const pod = await cluster.untilPodRuns();
    await drain(true);
    await removeOwn(PODS, pod);
    await cluster.isTold('data', 'does not run: 0/1 nodes are available');
    expect(await why('data')).toMatch(/Blocked by: .*does not run: 0\/1 nodes are available/);
    await drain(false);
    await cluster.untilPodRuns(pod.metadata.uid);
    expect(await why('data')).toMatch(/Blocked by: .*is being filled by pod stowage\/populate-/);
  });

  test('is reported with the FailedMount event of the kubelet', async () => {
    cluster.world.mount = () => Promise.reject(new Error('secret "certs" not found'));
    await cluster.createClaim('data');
    await until('the event is emitted', async () =>
      (await cluster.eventsOf('data')).find(({ message }) =>
        message.includes('FailedMount: secret "certs"'),
      ),
    );
    expect(await why('data')).toContain('does not run: FailedMount: secret "certs" not found');
    cluster.world.mount = async () => {};
    await isFilled('data');
    expect(await warnings('data')).toEqual(['PopulatorCreationError 1']);
  });
});

test('a change of the source while the pod runs does not affect the claim', async () => {
  const goOn = cluster.hold();
  await cluster.createClaim('data');
  await cluster.untilPodRuns();
  const later = { spec: { fileContents: 'later' } };
  await cluster.client.patch(HELLOS, 'example', later, { namespace: NAMESPACE });
  await cluster.client.delete(HELLOS, 'example', { namespace: NAMESPACE });
  goOn();
  await isFilled('data');
});

test('ReferenceGrants are watched only once', async () => {
  const followed: string[] = [];
  const client: KubeClient = {
    ...cluster.client,
    watch: (resource, ...rest) => {
      followed.push(resource.plural);
      return cluster.client.watch(resource, ...rest);
    },
  };
  await cluster.startDaemon({ client });
  await cluster.createHello('theirs', 'theirs', 'prod');
  await cluster.createClaim('data', { dataSourceRef: helloReference('theirs', 'prod') });
  await cluster.isTold('data', "isn't allowed");
  await cluster.client.create(REFERENCE_GRANTS, populatorGrant(HELLOS));
  await isFilled('data', 'theirs');
  expect(followed.filter((plural) => plural === REFERENCE_GRANTS.plural)).toHaveLength(1);
});
