import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { POPULATOR_DEFINITIONS, VOLUME_POPULATORS } from '../../../src/api/resources.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { HELLO_DEFINITION, HELLO_POPULATOR, HELLOS, hello } from '../../support/hello.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { expectSaid, type Person, person } from '../../support/why.ts';
import { workingNodes } from '../../support/working-nodes.ts';

/** What claims wait for that populators fill. Containers are in memory. */

let cluster: PopulationCluster;
let controller: TestController | undefined;
let someone: Person;

beforeAll(async () => {
  cluster = await startPopulationCluster();
  // What a person writes into the editor that opens.
  someone = await person(cluster.kubeconfig, { KUBE_EDITOR: 'sed -i s/wrong/right/' });
  controller = await startController(cluster.client, {
    executor: workingNodes(),
    provisioning: { namespace: OWN, crossNamespace: true },
    retry: { startMs: 200, maxMs: 1000 },
  });
  await cluster.client.create(POPULATOR_DEFINITIONS, HELLO_DEFINITION);
  await cluster.client.create(VOLUME_POPULATORS, HELLO_POPULATOR);
  await cluster.createClass('immediate');
});
afterAll(async () => {
  await controller?.stop();
  await cluster?.stop();
  await someone?.leave();
});

test('PopulationFailing: pods that end with an error', async () => {
  const { run } = cluster.world;
  cluster.world.run = (pod) =>
    JSON.stringify(pod.spec).includes('wrong') ? { failed: 'no such greeting: wrong' } : run(pod);
  await cluster.client.create(HELLOS, hello('example', NAMESPACE, 'wrong'), { namespace: NAMESPACE });
  await cluster.createClaim('data');
  const said = await someone.untilCause('pvc data', 'PopulationFailing');
  expectSaid(said, 'PopulationFailing', `PersistentVolumeClaim ${NAMESPACE}/data`);
  expect(said.holdup).toContain('exit status 1: no such greeting: wrong');
  await someone.follow(said);
  await cluster.isBound('data');
  expect((await someone.why('pvc data')).nothing).toContain('nothing holds it up');
});
