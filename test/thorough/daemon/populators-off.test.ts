import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Pod } from '../../../src/api/core.ts';
import { PODS } from '../../../src/api/resources.ts';
import { OWN, type PopulationCluster, startPopulationCluster } from '../../support/population-cluster.ts';
import { until } from '../../support/until.ts';

/** Claims that wait, while the controllers that fill and check them are switched off, and on again. */

let cluster: PopulationCluster;
beforeEach(async () => {
  cluster = await startPopulationCluster();
});
afterEach(() => cluster.stop());

const reasons = async (name: string) => (await cluster.eventsOf(name)).map(({ reason }) => reason);
const OFF = '*,-populator,-data-source-validator';
const nobodys = { apiGroup: 'x.example.com', kind: 'X', name: 'a' };

test('populators and their validator, switched off, leave all as it is; switched on again, they go on', async () => {
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

test('a filling that is under way when they are switched off goes on when they are on again', async () => {
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
  await until('the pod has filled it', async () =>
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
