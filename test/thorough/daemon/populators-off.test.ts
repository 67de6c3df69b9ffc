import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Pod } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/api/resources.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { until } from '../../support/until.ts';

/**
 * Pending claims while the controllers that populate and validate them are disabled, and enabled
 * again.
 */

let cluster: PopulationCluster;
beforeEach(async () => {
  cluster = await startPopulationCluster();
});
afterEach(() => cluster.stop());

const reasons = async (name: string) => (await cluster.eventsOf(name)).map(({ reason }) => reason);
const OFF = '*,-populator,-data-source-validator';
const nobodys = { apiGroup: 'x.example.com', kind: 'X', name: 'a' };

test('the populator and validator controllers do nothing while they are disabled', async () => {
  await cluster.startDaemon({ controllers: OFF });
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
  await cluster.createClaim('data');
  await cluster.createClaim('odd', { dataSourceRef: nobodys });
  await cluster.createClaim('plain', { dataSourceRef: undefined });
  await cluster.isBound('plain');
  for (const name of ['data', 'odd']) {
    expect((await cluster.claimNow(name)).status?.phase).toBe('Pending');
    expect(await reasons(name)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/Populator|Unrecognized/)]),
    );
  }
  expect(await cluster.all(PODS)).toEqual([]);

  await cluster.startDaemon();
  await cluster.isTold('odd', 'UnrecognizedDataSourceKind');
  const { spec } = await cluster.isBound('data');
  expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
  await cluster.isClean();
});

test('a running population completes once the disabled controllers are enabled', async () => {
  await cluster.startDaemon();
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
  const goOn = cluster.hold();
  await cluster.createClaim('data');
  await cluster.untilPodRuns();
  await cluster.startDaemon({ controllers: OFF });
  await cluster.createClaim('plain', { dataSourceRef: undefined });
  await cluster.isBound('plain');
  goOn();
  await until('the pod has populated the claim', async () =>
    (await cluster.all<Pod>(PODS, OWN)).some(({ status }) => status?.phase === 'Succeeded')
      ? true
      : undefined,
  );
  expect((await cluster.claimNow('data')).status?.phase).toBe('Pending');
  await cluster.startDaemon();
  const { spec } = await cluster.isBound('data');
  expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
  await cluster.isClean();
});

test('a claim deleted while controllers are disabled stays until they are enabled', async () => {
  await cluster.startDaemon();
  await cluster.register();
  await cluster.createHello();
  await cluster.createClass('immediate');
  cluster.hold();
  await cluster.createClaim('begun');
  await cluster.untilPodRuns();
  await cluster.startDaemon({ controllers: OFF });
  await cluster.createClaim('waits');
  await cluster.createClaim('plain', { dataSourceRef: undefined });
  const remove = (name: string) =>
    cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
  for (const name of ['begun', 'waits', 'plain']) await remove(name);
  // The population of one claim had not begun, and the other claim needs none.
  for (const name of ['waits', 'plain'])
    await cluster.gone(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE);
  const { metadata } = await cluster.claimNow('begun');
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(metadata.finalizers).toContain('stowage.dev/populate-target-protection');
  expect(await cluster.all(PODS, OWN)).toHaveLength(1);

  await cluster.startDaemon();
  await cluster.gone(PERSISTENT_VOLUME_CLAIMS, 'begun', NAMESPACE);
  await cluster.isClean();
  await cluster.isEmpty();
});
