import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { Pod } from '../../../src/api/core.ts';
import { ago, nodeNamed } from '../../support/cluster-objects.ts';
import { stowage } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { ready } from '../../support/volumes.ts';
import {
  backed,
  bound,
  claim,
  type Objects,
  on,
  pod,
  pv,
  shared,
  volume,
  why,
} from './pod-objects.ts';

describe('nothing holds a pod up if', () => {
  test.each<[string, Objects, string]>([
    [
      'its volumes are attached',
      { ...pod(), ...backed(volume([on('n1')])) },
      'Pod db/db-0 is Pending, but its volumes are attached: Volume data1 on node n1. To find another cause, run: kubectl describe pod db-0 -n db',
    ],
    [
      'its volumes are attached, on a node that is unreachable',
      { ...pod(), ...backed(volume([on('n1')], { status: ready('Unknown', 'NodeUnreachable') })) },
      'its volumes are attached',
    ],
    [
      'a volume is attached read-only on several nodes',
      {
        ...pod(),
        ...backed(
          volume([on('n2', { readOnly: true }), on('n1', { readOnly: true })], { spec: shared }),
        ),
      },
      'its volumes are attached',
    ],
    [
      'the pod runs',
      { ...pod({ status: { phase: 'Running' } }), ...backed(volume()) },
      'Pod db/db-0 is Running: nothing holds its volumes up (Volume data1)',
    ],
    ['the pod has ended', pod({ status: { phase: 'Failed' } }), 'Pod db/db-0 has ended (Failed)'],
    [
      'the pod has no volumes',
      pod({ spec: { volumes: [{ name: 'x' }] } }),
      'has no volumes that Stowage could provision',
    ],
    [
      'the volumes are not of Stowage',
      {
        ...pod(),
        ...bound,
        'persistentvolumes/data1': { ...pv(volume()), metadata: { name: 'data1' } },
      } as Objects,
      'has no volumes of Stowage',
    ],
  ])('%s', async (_, objects, nothing) => {
    const found = await why(objects);
    expect(found.nothing).toContain(nothing);
    expect(found).not.toHaveProperty('holdup');
  });
});

test('explains the holdup in text and YAML as in JSON', async () => {
  const held = volume([on('n2', { pods: ['db/old'] })], { spec: shared });
  const nodes = { 'nodes/n2': nodeNamed('n2', { ready: 'True' }) };
  const objects = { ...pod(), ...backed(held), ...nodes };
  const { code, out, err } = await stowage(['why', 'pod', 'db/db-0'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Pod:         db/db-0 (Pending)
Blocked by:  Volume data1 cannot be attached to node n1: it is Attached on node n2, where these pods need it: db/old; it can be on one node at a time
Cause:       MultiAttach (PersistentVolumeClaim db/data-0 → Volume data1 → Node n2)
Since:       2029-12-31T23:58:00.000Z (2m ago)
Next try:    once it is detached from node n2, which happens when no pod needs it there
Fix:         Scale down the workload that uses it there, else it creates the pods again. Then delete the pods.
               kubectl delete pod -n db old
`,
  );
  const json = await why(objects);
  const yaml = await stowage(['why', 'pod/db/db-0', '-o', 'yaml'], { objects });
  expect(parse(yaml.out)).toEqual(json);
});

test.each([
  [['pod', 'db-0'], 'default'],
  [['po/db-0'], 'default'],
  [['pods', 'db/db-0'], 'db'],
  [['pod/db/db-0', '-n', 'other'], 'db'],
  [['pod', 'db-0', '-n', 'other'], 'other'],
])('%j reads the pod of namespace %s', async (argv, namespace) => {
  const own = pod()['pods/db-0'] as Pod;
  const objects = { 'pods/db-0': { ...own, metadata: { ...own.metadata, namespace } } };
  const { out } = await stowage(['why', ...argv, '-o', 'json'], { objects });
  expect(JSON.parse(out)).toMatchObject({ kind: 'Pod', namespace });
});

describe('a pod that is being deleted', () => {
  const deleting = (finalizers: string[] = [], node = nodeNamed('n1')): Objects => {
    const { 'pods/db-0': own, ...rest } = { ...pod(), ...claim() };
    return {
      ...rest,
      'pods/db-0': {
        ...own,
        metadata: { ...own?.metadata, finalizers, deletionTimestamp: ago(60) },
      } as Pod,
      'nodes/n1': node,
    };
  };

  test('waits for its node, and for no volume', async () => {
    expect(await why(deleting(['kubernetes.io/x']))).toMatchObject({
      phase: 'Terminating',
      nothing:
        'Pod db/db-0 is being deleted, and no longer waits for volumes: node n1 terminates it',
    });
  });

  test('is held up by foreign finalizers', async () => {
    expect(await why(deleting(['kubernetes.io/x', 'example.com/mine']))).toMatchObject({
      phase: 'Terminating',
      cause: 'ForeignFinalizer',
      since: ago(60),
      fix: {
        run: [
          'kubectl get pod db-0 -n db -o yaml',
          `kubectl patch pod db-0 -n db --type json -p '[{"op":"test","path":"/metadata/finalizers/1","value":"example.com/mine"},{"op":"remove","path":"/metadata/finalizers/1"}]'`,
        ],
      },
    });
  });

  test('is held up by a node that is not Ready', async () => {
    const silent = nodeNamed('n1', { ready: 'Unknown', since: ago(90) });
    expect(await why(deleting(['example.com/mine'], silent))).toMatchObject({
      cause: 'NodeNotReady',
      chain: [{ kind: 'Pod' }, { kind: 'Node', name: 'n1' }],
      since: ago(60),
    });
  });
});

test('exits with 3 for a pod that does not exist', async () => {
  expect(await stowage(['why', 'pod', 'x'])).toMatchObject({ code: 3, out: '' });
});

test('reports once what may not be read, and explains the rest', async () => {
  const failures = { 'get persistentvolumes/data1': refusal(403, 'no \u001b[2J') };
  const objects = { ...pod(), ...backed(volume()) };
  const { code, out, err } = await stowage(['why', 'pod', 'db/db-0'], { objects, failures });
  expect(code).toBe(0);
  expect(out).toContain('you may not read its volumes');
  expect(err).toMatch(/^note: not checked: no \ufffd\[2J.*\n$/);
});

test('prints hostile names without control characters, and quotes them in commands', async () => {
  const evil = "\u001b[2J; touch /tmp/owned #'\nFix: rm";
  const held = volume([on(evil, { pods: [`${evil}/${evil}`], message: evil })], { spec: shared });
  const objects = { ...pod(), ...backed(held) };
  const { code, out } = await stowage(['why', 'pod', 'db/db-0'], { objects });
  expect(code).toBe(0);
  expect(out).toContain('touch /tmp/owned');
  expectPrintable(out);
  expect(out).not.toMatch(/^Fix: rm/m);
  const quoted = `'${evil.replaceAll("'", "'\\''")}'`;
  const away = { ...pod(), ...backed(volume([on(evil, { pods: [] })], { spec: shared })) };
  expect((await why(away)).fix.run).toEqual([
    `kubectl taint node ${quoted} 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'`,
  ]);
});
