import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_POPULATORS } from '../../../src/api/resources.ts';
import { HELLO_POPULATOR } from '../../support/hello.ts';
import {
  NAMESPACE,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';

/**
 * Events of claims about their data sources, with the daemon's controllers and a sandbox's API
 * server.
 */

let cluster: PopulationCluster;
beforeEach(async () => {
  cluster = await startPopulationCluster();
  await cluster.startDaemon();
});
afterEach(() => cluster.stop());

const reasons = async (name: string) => (await cluster.eventsOf(name)).map(({ reason }) => reason);

describe('the data source validator', () => {
  const unknown = { apiGroup: 'nobody.example.com', kind: 'Nothing', name: 'x' };

  test('emits one event for an unknown kind of data source, and none for others', async () => {
    await cluster.client.create(VOLUME_POPULATORS, HELLO_POPULATOR);
    await cluster.createClass('immediate');
    const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' };
    await cluster.createClaim('nothing', { dataSourceRef: undefined });
    await cluster.createClaim('claim', {
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x' },
    });
    await cluster.createClaim('snapshot', { dataSourceRef: snapshot });
    await cluster.createClaim('registered');
    await cluster.createClaim('unknown', { dataSourceRef: unknown });
    await cluster.isTold(
      'unknown',
      'UnrecognizedDataSourceKind: The datasource for this PVC does not match',
    );
    const labels = { metadata: { labels: { changed: 'yes' } } };
    for (const name of ['nothing', 'claim', 'snapshot', 'registered', 'unknown']) {
      await cluster.client.patch(PERSISTENT_VOLUME_CLAIMS, name, labels, { namespace: NAMESPACE });
    }
    // Once this event exists, the daemon has observed the earlier claims, too.
    await cluster.createClaim('last', { dataSourceRef: unknown });
    await cluster.isTold('last', 'UnrecognizedDataSourceKind');
    for (const name of ['nothing', 'claim', 'snapshot', 'registered']) {
      expect(await reasons(name)).not.toContain('UnrecognizedDataSourceKind');
    }
    const [told, ...more] = (await cluster.eventsOf('unknown')).filter(
      ({ type }) => type === 'Warning',
    );
    expect([told?.count, more]).toEqual([1, []]);
    // A kind that only a VolumePopulator names belongs to another populator.
    expect(await reasons('registered')).toEqual(['Provisioning']);
    expect((await cluster.claimNow('registered')).metadata.finalizers).toEqual([
      'kubernetes.io/pvc-protection',
    ]);
  });

  test('reports a kind as soon as its VolumePopulator is deleted', async () => {
    await cluster.client.create(VOLUME_POPULATORS, HELLO_POPULATOR);
    await cluster.createClaim('data', { storageClassName: 'none' });
    await cluster.client.delete(VOLUME_POPULATORS, 'hello');
    await cluster.isTold('data', 'UnrecognizedDataSourceKind');
  });
});

test('API server, validator, provisioner and populator each report on a claim', async () => {
  await cluster.createClass('immediate');
  await expect(
    cluster.createClaim('core', { dataSourceRef: { kind: 'Pod', name: 'x' } }),
  ).rejects.toThrow("must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  await cluster.createClaim('data');
  await cluster.isTold('data', 'UnrecognizedDataSourceKind');
  await cluster.isTold(
    'data',
    'Provisioning: Assuming an external populator will provision the volume',
  );
  await cluster.register();
  await cluster.isTold(
    'data',
    `PopulatorDataSourceNotFound: Hello ${NAMESPACE}/example does not exist`,
  );
  await cluster.createHello();
  await cluster.isBound('data');
});
