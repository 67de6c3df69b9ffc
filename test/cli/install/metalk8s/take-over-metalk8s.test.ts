import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../../src/api/meta.ts';
import { DEPLOYMENTS, PODS, VOLUMES } from '../../../../src/api/resources.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import type { Executor, JobState } from '../../../../src/nodes/job.ts';
import { startInstalling } from '../../../support/installing.ts';
import {
  endPodWhenScaledDown,
  OPERATOR,
  operatorOf,
  startOperator,
} from '../../../support/metalk8s.ts';
import { until } from '../../../support/until.ts';

let installing: Awaited<ReturnType<typeof startInstalling>>;
let { client, stowage, exists } = {} as typeof installing;

beforeEach(async () => {
  installing = await startInstalling();
  ({ client, stowage, exists } = installing);
});
afterEach(() => installing.stop());

const TAKE_OVER = ['install', '--take-over-metalk8s', '--transport', 'local', '--local-node', 'n1'];
const unreached: Executor = {
  observe: () => Promise.reject(new Error('no node was expected to be looked at')),
  submit: () => Promise.reject(new Error('nothing was expected to be done on a node')),
  poll: async () => [] as JobState[],
  purge: async () => true,
  subjects: async () => [],
  close: async () => {},
};
const pod = (name: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system' },
    spec: { containers: [{ name: 'manager', image: 'example.com/storage-operator:1' }] },
  }) as KubeObject;
const deployment = (name: string, namespace: string, { image = 'c', replicas = 1 } = {}) =>
  ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: {
      replicas,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } },
    },
  }) as KubeObject;
const data1: Volume = {
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name: 'data1' },
  spec: { nodeName: 'n1', storageClassName: 'local', sparseLoopDevice: { size: '1Gi' } },
};
const atWork = { job: 'PrepareVolume/2020' };
const world = { executor: unreached };
const isInstalled = () => exists(DEPLOYMENTS, 'stowage', 'stowage');

describe('install beside the operator of MetalK8s', () => {
  test.each([
    ['the name of 126.0 and later', OPERATOR, 'kube-system'],
    ['the name before 126.0', 'storage-operator', 'kube-system'],
  ])('refuses the daemon, and watch refuses to run, by %s', async (_, name, namespace) => {
    await client.create(DEPLOYMENTS, deployment(name, namespace));
    const { code, err } = await stowage(['install']);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining(`(deployment.apps/${name} in namespace ${namespace})`),
    ]);
    expect(err).toContain('stowage install --take-over-metalk8s');
    expect(await isInstalled()).toBe(false);
    expect((await stowage(['install', '--components', 'crds,rbac'])).code).toBe(0);
    const watching = await stowage(['watch']);
    expect([watching.code, watching.err]).toEqual([
      5,
      expect.stringContaining('two controllers would manage the same Volumes'),
    ]);
  });

  test.each([
    [
      'a Deployment of that name in another namespace',
      'storage-operator',
      'default',
      'example.com/other:1',
    ],
    ['an operator without replicas', OPERATOR, 'kube-system', 'storage-operator'],
    ['another Deployment of kube-system', 'metrics-server', 'kube-system', 'metrics-server'],
  ])('ignores %s', async (_, name, namespace, image) => {
    await client.create(
      DEPLOYMENTS,
      deployment(name, namespace, { image, replicas: name === OPERATOR ? 0 : 1 }),
    );
    expect((await stowage(['install'])).code).toBe(0);
  });
});

test('install and watch are refused while a pod of the MetalK8s operator runs', async () => {
  await client.create(PODS, pod('loose'));
  for (const command of ['install', 'watch']) {
    const { code, err } = await stowage([command]);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('is running (pod/loose in namespace kube-system)'),
    ]);
  }
  expect(await isInstalled()).toBe(false);
});

describe('install --take-over-metalk8s', () => {
  test('stops the operator before it installs anything, and prints how to undo that', async () => {
    await startOperator(client);
    const [{ code, err }] = await Promise.all([
      stowage(TAKE_OVER, world),
      endPodWhenScaledDown(client),
    ]);
    expect([code, err]).toEqual([0, expect.any(String)]);
    const lines = err.split('\n');
    expect(lines[0]).toContain('waiting for the pods of the daemon in namespace kube-system');
    expect(lines[1]).toBe(
      `deployment.apps/${OPERATOR} in namespace kube-system scaled from 1 to 0`,
    );
    expect(lines.find((line) => line.includes('customresourcedefinition'))).toBe(lines[2]);
    expect(err).toContain(`kubectl -n kube-system scale deployment ${OPERATOR} --replicas 1`);
    expect(await isInstalled()).toBe(true);
    // A second run has nothing to do.
    const again = await stowage(TAKE_OVER, world);
    const removed = await stowage(['uninstall', '--yes', '--components', 'rbac,deployment']);
    expect([removed.code, removed.err]).toEqual([
      0,
      expect.stringContaining(`kubectl -n kube-system scale deployment ${OPERATOR} --replicas 1`),
    ]);
    expect([again.code, again.err.includes('scaled')]).toEqual([0, false]);
    expect((await operatorOf(client)).metadata.annotations).toEqual({
      'stowage.dev/replicas-before': '1',
    });
  });

  test.each(['client', 'server'])('--dry-run=%s changes nothing', async (mode) => {
    await startOperator(client);
    const { code, out } = await stowage([...TAKE_OVER, `--dry-run=${mode}`], world);
    expect([code, out]).toEqual([
      0,
      `# deployment.apps/${OPERATOR} in namespace kube-system is scaled from 1 to 0\n`,
    ]);
    expect((await operatorOf(client)).spec.replicas).toBe(1);
    expect(await isInstalled()).toBe(false);
  });

  test('refuses a pod of the operator that no Deployment scales', async () => {
    await client.create(PODS, pod('loose'));
    const { code, err } = await stowage(TAKE_OVER, world);
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('is still running: pod/loose in namespace kube-system'),
    ]);
    expect(await isInstalled()).toBe(false);
  });

  test('leaves the operator running if it refuses a Volume', async () => {
    await startOperator(client);
    await client.create(VOLUMES, data1);
    await client.patch(VOLUMES, 'data1', { status: atWork }, { subresource: 'status' });
    const { code, err } = await stowage(TAKE_OVER, world);
    expect(err).not.toContain('is stopped');
    expect([code, err]).toEqual([
      5,
      expect.stringContaining('Volume data1 is not adopted: its job PrepareVolume/2020'),
    ]);
    expect((await operatorOf(client)).spec.replicas).toBe(1);
  });

  test('refuses a Volume with a new job, and prints how to restart the operator', async () => {
    await startOperator(client);
    await client.create(VOLUMES, data1);
    const start = async () => {
      await until('the operator is stopped', async () =>
        (await operatorOf(client)).spec.replicas === 0 ? true : undefined,
      );
      await client.patch(VOLUMES, 'data1', { status: atWork }, { subresource: 'status' });
      await endPodWhenScaledDown(client);
    };
    const [first] = await Promise.all([stowage(TAKE_OVER, world), start()]);
    for (const { code, err } of [first, await stowage(TAKE_OVER, world)]) {
      expect([code, err]).toEqual([
        5,
        expect.stringContaining('Volume data1 is not adopted: its job PrepareVolume/2020'),
      ]);
      expect(err).toContain(
        `note: MetalK8s's operator is stopped. If a Volume waits for it, start it again: kubectl -n kube-system scale deployment ${OPERATOR} --replicas 1`,
      );
    }
  });

  test.each([
    [
      'a list of components without crds',
      [...TAKE_OVER, '--components', 'rbac'],
      'requires the component crds',
    ],
    [
      'a flag of nodes alone',
      ['install', '--local-node', 'n1'],
      '--local-node requires --take-over-metalk8s',
    ],
  ])('%s is wrong usage', async (_, argv, why) => {
    const { code, err } = await stowage(argv, world);
    expect([code, err]).toEqual([2, expect.stringContaining(why)]);
  });
});
