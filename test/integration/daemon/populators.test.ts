import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeEvent, PersistentVolume, Pod } from '../../../src/api/core.ts';
import { POPULATOR_DEFINITION_CRD, VOLUME_POPULATOR_CRD } from '../../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { MAX_RUNNING } from '../../../src/controllers/populator/before-pod.ts';
import { createMetrics } from '../../../src/manager/metrics/metrics.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { HELLOS, helloReference } from '../../support/hello.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  podOf,
  populatorGrant,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { until } from '../../support/until.ts';

/**
 * Claims with populators, with the daemon's controllers, a sandbox's API server, and nodes and
 * containers in memory.
 */

let cluster: PopulationCluster;
beforeEach(async () => {
  cluster = await startPopulationCluster();
  await cluster.startDaemon();
});
afterEach(() => cluster.stop());

const reasons = async (name: string) => (await cluster.eventsOf(name)).map(({ reason }) => reason);

const removed = (resource: Resource, name: string) =>
  cluster.client.delete(resource, name, resource.namespaced ? { namespace: NAMESPACE } : {});

describe('the populator controller', () => {
  test('fills a claim from its data source, and leaves nothing behind', async () => {
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('immediate');
    await cluster.createClaim('data');
    const { spec, metadata } = await cluster.isBound('data');
    expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
    await cluster.isClean();
    const [pv, ...others] = await cluster.persistentVolumes();
    expect(others).toEqual([]);
    expect(pv?.metadata.annotations).toMatchObject({
      'stowage.dev/populated-from': `${NAMESPACE}/example`,
    });
    expect(pv?.spec.claimRef).toMatchObject({
      namespace: NAMESPACE,
      name: 'data',
      uid: metadata.uid,
    });
    expect(await reasons('data')).toEqual(
      expect.arrayContaining(['Provisioning', 'PopulatorCreated', 'PopulatorFinished']),
    );
    expect(await reasons('data')).toHaveLength(3);
    expect(cluster.faults).toEqual([]);

    // The object belongs to the claim, and is deleted with it.
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace: NAMESPACE });
    await cluster.isEmpty();
  });

  test('a populated claim can be expanded', async () => {
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('immediate', { allowVolumeExpansion: true });
    await cluster.createClaim('data');
    const { spec } = await cluster.isBound('data');
    await cluster.isClean();
    const more = { spec: { resources: { requests: { storage: '96Mi' } } } };
    await cluster.client.patch(PERSISTENT_VOLUME_CLAIMS, 'data', more, { namespace: NAMESPACE });
    await until('the Volume has the new size', async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, spec.volumeName ?? '');
      return volume.spec.sparseLoopDevice?.size === '96Mi' || undefined;
    });
  });

  test('waits for the first pod if the class does, and populates on its node', async () => {
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' });
    await cluster.createClaim('data', { storageClassName: 'waits' });
    await cluster.client.create(PODS, podOf('data', { 'kubernetes.io/hostname': 'n2' }));
    const { spec } = await cluster.isBound('data');
    const pv = await cluster.client.get<PersistentVolume>(
      PERSISTENT_VOLUMES,
      spec.volumeName ?? '',
    );
    expect(JSON.stringify(pv.spec.nodeAffinity)).toContain('n2');
    expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
    await cluster.isClean();
    await until('the pod that uses the claim runs', async () => {
      const { status } = await cluster.client.get<Pod>(PODS, 'user', { namespace: NAMESPACE });
      return status?.phase === 'Running' || undefined;
    });
  });

  test('denies data of another namespace until a grant allows it', async () => {
    await cluster.register();
    await cluster.createClass('immediate');
    await cluster.createHello('theirs', 'secret', 'prod');
    await cluster.createClaim('data', { dataSourceRef: helloReference('theirs', 'prod') });
    await cluster.createClaim('none', { dataSourceRef: helloReference('missing', 'prod') });
    await cluster.isTold(
      'data',
      "PopulatorDataSourceRefused: accessing prod/theirs of Hello dataSource from default/data isn't allowed",
    );
    // The message does not reveal whether the object exists, either.
    await cluster.isTold('none', "isn't allowed");
    expect(await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN)).toEqual([]);
    await cluster.client.create(REFERENCE_GRANTS, populatorGrant(HELLOS, 'theirs'));
    const { spec } = await cluster.isBound('data');
    expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'secret' });
    expect((await cluster.claimNow('none')).status?.phase).toBe('Pending');
  });

  test('reports the output of a failed pod, and retries', async () => {
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('immediate');
    const { run } = cluster.world;
    cluster.world.run = () => ({ failed: 'no space left' });
    await cluster.createClaim('data');
    await cluster.isTold('data', 'PopulatorFailed');
    cluster.world.run = run;
    expect(
      (await cluster.eventsOf('data')).find(({ reason }) => reason === 'PopulatorFailed')?.message,
    ).toContain('exit status 1: no space left. Stowage retries');
    await cluster.isBound('data');
    expect(cluster.ran).toHaveLength(2);
    await cluster.isClean();
  });

  test.each(['Delete', 'Retain'])(
    'cleans up a claim deleted during population, with its source and class gone (%s)',
    async (reclaimPolicy) => {
      await cluster.register();
      await cluster.createHello();
      await cluster.createClass('immediate', { reclaimPolicy });
      cluster.hold();
      await cluster.createClaim('data');
      await cluster.untilPodRuns();
      await removed(HELLOS, 'example');
      await removed(STORAGE_CLASSES, 'immediate');
      await removed(POPULATOR_DEFINITIONS, 'hello');
      await removed(VOLUME_POPULATORS, 'hello');
      await removed(PERSISTENT_VOLUME_CLAIMS, 'data');
      await cluster.gone(PERSISTENT_VOLUME_CLAIMS, 'data', NAMESPACE);
      await cluster.isClean();
      await cluster.isEmpty();
    },
  );

  test('limits the pods of one namespace, so that other namespaces get theirs', async () => {
    await cluster.register();
    await cluster.createHello();
    await cluster.createClass('immediate');
    const goOn = cluster.hold();
    const most = MAX_RUNNING / 2;
    const names = Array.from({ length: most + 2 }, (_, index) => `data-${index}`);
    await Promise.all(names.map((name) => cluster.createClaim(name)));
    await until('two claims have an event that they wait', async () => {
      const { items } = await cluster.client.list<KubeEvent>(EVENTS, { namespace: NAMESPACE });
      const told = items.filter(({ message }) =>
        message.includes('already fill volumes of this namespace'),
      );
      return told.length >= 2 || undefined;
    });
    expect(await cluster.all(PODS, OWN)).toHaveLength(most);
    await cluster.createHello('example', undefined, 'prod');
    await cluster.createClaim('data', {}, 'prod');
    await until('the claim of another namespace has a pod', async () => {
      const pods = await cluster.all(PODS, OWN);
      return pods.length > most || undefined;
    });
    goOn();
    await Promise.all(names.map((name) => cluster.isBound(name)));
  });
});

test('metrics count validated data sources and populated volumes', async () => {
  const metrics = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
  await cluster.startDaemon({ metrics });
  await cluster.createClass('immediate');
  await cluster.createHello();
  await cluster.createClaim('data');
  await cluster.isTold('data', 'UnrecognizedDataSourceKind');
  const goOn = cluster.hold();
  await cluster.register();
  await until(
    'the metrics count the pod and its bytes',
    async () =>
      (await metrics.read()).body.includes(
        `stowage_populations_in_flight_bytes{phase="Running"} ${64 << 20}\n`,
      ) || undefined,
  );
  goOn();
  await cluster.isBound('data');
  await cluster.isClean();
  const { body } = await metrics.read();
  const lines = body.split('\n').filter((line) => /^(volume_\w+_count|stowage_populat)/.test(line));
  expect(lines).toEqual(
    expect.arrayContaining([
      'volume_data_source_validator_operation_count{result="invalid"} 1',
      'volume_data_source_validator_operation_count{result="populator"} 1',
      'volume_populator_operation_count{operation_name="populate",result="success"} 1',
      'volume_populator_operation_seconds_count{operation_name="populate",result="success"} 1',
      'stowage_populations_in_flight{phase="Running"} 0',
      `stowage_populated_bytes_total{class="immediate"} ${64 << 20}`,
    ]),
  );
});

test('metrics count a failed pod as an error, and its retry as a success', async () => {
  const metrics = createMetrics({ clock: systemClock, transportOf: () => 'ssh' });
  await cluster.startDaemon({ metrics });
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
  const { run } = cluster.world;
  cluster.world.run = (pod) => (cluster.ran.length === 0 ? { failed: 'no space left' } : run(pod));
  await cluster.createClaim('data');
  await cluster.isTold('data', 'PopulatorFailed');
  await cluster.isBound('data');
  await cluster.isClean();
  const { body } = await metrics.read();
  expect(
    body.split('\n').filter((line) => line.startsWith('volume_populator_operation_count')),
  ).toEqual([
    'volume_populator_operation_count{operation_name="populate",result="error"} 1',
    'volume_populator_operation_count{operation_name="populate",result="success"} 1',
  ]);
});

test('the daemon waits for missing populator CRDs, and starts once they exist', async () => {
  await cluster.stop();
  cluster = await startPopulationCluster({ without: ['VolumePopulator', 'PopulatorDefinition'] });
  const daemon = await cluster.startDaemon();
  await cluster.createClass('immediate');
  await cluster.createHello();
  await cluster.createClaim('data');
  await until('the daemon logs the missing CRDs', async () => {
    const told = JSON.stringify(daemon.lines);
    return (
      (told.includes('volumepopulators.populator.storage.k8s.io') &&
        told.includes('populatordefinitions')) ||
      undefined
    );
  });
  for (const crd of [VOLUME_POPULATOR_CRD, POPULATOR_DEFINITION_CRD]) {
    await cluster.client.create<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, crd as KubeObject);
  }
  await cluster.isTold('data', 'UnrecognizedDataSourceKind');
  await cluster.register();
  await cluster.isBound('data');
});
