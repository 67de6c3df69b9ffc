import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  NAMESPACE,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { expectDiagnosis, type Person, person } from '../../support/why.ts';

/** Causes that `why` reports for claims with populators. Containers are in memory. */

let cluster: PopulationCluster;
let someone: Person;

beforeAll(async () => {
  cluster = await startPopulationCluster();
  // Stands for the user's change in the editor.
  someone = await person(cluster.kubeconfig, { KUBE_EDITOR: 'sed -i s/wrong/right/' });
  await cluster.startDaemon({ retry: { startMs: 200, maxMs: 1000 } });
  await cluster.register();
  await cluster.createClass('immediate');
});
afterAll(async () => {
  await cluster?.stop();
  await someone?.leave();
});

test('PopulationFailing: reports pods that end with an error, with a fix that works', async () => {
  const { run } = cluster.world;
  cluster.world.run = (pod) =>
    JSON.stringify(pod.spec).includes('wrong') ? { failed: 'no such greeting: wrong' } : run(pod);
  await cluster.createHello('example', 'wrong');
  await cluster.createClaim('data');
  const said = await someone.untilCause('pvc data', 'PopulationFailing');
  expectDiagnosis(said, 'PopulationFailing', `PersistentVolumeClaim ${NAMESPACE}/data`);
  expect(said.holdup).toContain('exit status 1: no such greeting: wrong');
  await someone.follow(said);
  await cluster.isBound('data');
  expect((await someone.why('pvc data')).nothing).toContain('nothing holds it up');
});
