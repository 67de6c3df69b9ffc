import { expect, test } from '@jest/globals';
import type { AnyEvent, CsiStorageCapacity } from '../../../../src/api/core.ts';
import type { KubeObject } from '../../../../src/api/meta.ts';
import {
  ADDRESS_ANNOTATION,
  MINION_ANNOTATION,
  OUT_OF_SERVICE_TAINT,
  PAUSED_ANNOTATION,
  PORT_ANNOTATION,
} from '../../../../src/api/names.ts';
import { reason, reasonAnnotations } from '../../../../src/api/reasons.ts';
import { CSI_STORAGE_CAPACITIES, EVENTS, NODES } from '../../../../src/api/resources.ts';
import { CAPACITY_LABELS } from '../../../../src/controllers/lib/capacity/capacity.ts';
import { startClaimsCluster } from '../../../support/claims-cluster.ts';
import { ago, attachmentOn, nodeNamed } from '../../../support/cluster-objects.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { expectPrintable } from '../../../support/printable-text.ts';
import { refusal } from '../../../support/refusals.ts';
import { ready, volumeNamed } from '../../../support/volumes.ts';
import { expectRefusedPart, REFUSED } from './refused-part.ts';

const available = (name: string, nodeName: string, on: string[] = []) => ({
  ...volumeNamed(name, {
    phase: 'Available' as const,
    capacity: name === 'data1' ? '66043392' : '1Gi',
    ...ready('True', 'Available'),
    attachments: on.map((node) =>
      attachmentOn(node, { pods: ['db/db-0'], device: `loop-${node}` }),
    ),
  }),
  spec: { ...volumeNamed(name).spec, nodeName },
});
const room = (
  storageClassName: string,
  hostname: string,
  capacity: string,
): CsiStorageCapacity => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name: storageClassName, namespace: 'stowage' },
  storageClassName,
  nodeTopology: { matchLabels: { 'kubernetes.io/hostname': hostname } },
  capacity,
});
const event = (node: string, message: string, component = 'stowage'): AnyEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: {
    name: 'e',
    namespace: 'default',
    annotations: reasonAnnotations(reason('NodeNotLocal', { node, named: 'n9' })),
  },
  involvedObject: { kind: 'Volume', name: 'data1', uid: 'uid-data1' },
  ...{ type: 'Warning', reason: 'StateTransition', message },
  ...{ lastTimestamp: ago(30), source: { component } },
});
const N1 = nodeNamed('n1', { ready: 'True' });
const OBJECTS: Record<string, KubeObject> = {
  'nodes/n1': {
    ...N1,
    metadata: { ...N1.metadata, labels: { 'kubernetes.io/hostname': 'host1' } },
  },
  'volumes/data1': available('data1', 'n1', ['n1']),
  'volumes/data2': available('data2', 'n1'),
  'volumes/moves': available('moves', 'n2', ['n2', 'n1']),
  'volumes/other': available('other', 'n2', ['n2']),
  'csistoragecapacities/1': room('fast', 'host1', String(5 * 2 ** 30)),
  'csistoragecapacities/2': room('slow', 'host2', '1'),
  'csistoragecapacities/3': room('odd', 'host1', 'x'),
  'events/1': { ...event('n1', 'second') },
  'events/2': { ...event('n1', 'first'), lastTimestamp: ago(60) } as KubeObject,
  'events/3': event('n2', 'of another node'),
  'events/4': event('n1', 'of another component', 'kubelet'),
};
const described = (objects: Record<string, KubeObject> = OBJECTS, world: World = {}) =>
  stowage(['describe', 'node', 'n1'], { objects, ...world });

test('describe node prints all fields without a connection to the node', async () => {
  const { code, out, err, nodesAs } = await described();
  expect({ code, err, nodesAs }).toEqual({ code: 0, err: '', nodesAs: undefined });
  expect(out).toBe(
    `Name:        n1
Ready:       True
Taints:      <none>
Paused:      no
Address:     n1, its name
Blocked by:  <none>
Volumes:
  NAME    PHASE       CAPACITY   ATTACHMENT   PODS      SINCE    DEVICE    MESSAGE
  data1   Available   62Mi       Attached     db/db-0   60s      loop-n1   <none>
  data2   Available   1Gi        <none>       <none>    <none>   <none>    <none>
  moves   Available   1Gi        Attached     db/db-0   60s      loop-n1   <none>
Free space:
  STORAGECLASS   FREE
  fast           5Gi
  odd            x
Events:
  TYPE      REASON            AGE   FROM      OBJECT         MESSAGE
  Warning   StateTransition   60s   stowage   Volume data1   first
  Warning   StateTransition   30s   stowage   Volume data1   second
`,
  );
});

test('describe node shows addresses, taints and a pause', async () => {
  const annotations = {
    [ADDRESS_ANNOTATION]: '10.0.0.7',
    [PORT_ANNOTATION]: '2222',
    [MINION_ANNOTATION]: 'minion-1',
    [PAUSED_ANNOTATION]: 'true',
  };
  const node = nodeNamed('n1', {
    annotations,
    ...{ ready: 'False', since: ago(60), message: 'kubelet stopped' },
  });
  const taints = [
    { key: OUT_OF_SERVICE_TAINT, value: 'nodeshutdown', effect: 'NoExecute' },
    { key: 'control-plane', effect: 'NoSchedule' },
    { key: 'busy', effect: 'PreferNoSchedule' },
  ];
  const { out } = await described({ 'nodes/n1': { ...node, spec: { taints } } as KubeObject });
  expect(out.split('\n').map((line) => line.replace(/: +/, ': '))).toEqual([
    'Name: n1',
    'Ready: False',
    'Since: 2029-12-31T23:59:00.000Z (60s ago)',
    'Message: kubelet stopped',
    `Taints: ${OUT_OF_SERVICE_TAINT}=nodeshutdown:NoExecute`,
    expect.stringMatching(/^ +control-plane:NoSchedule$/),
    'Paused: yes. To resume it: stowage resume node n1',
    'Address: 10.0.0.7',
    'Port: 2222',
    'Minion: minion-1',
    expect.stringMatching(/^Blocked by: Paused: /),
    'Volumes: <none>',
    'Free space: <none>',
    'Events: <none>',
    '',
  ]);
});

test('describe node reports an invalid annotation', async () => {
  const node = nodeNamed('n1', { annotations: { [ADDRESS_ANNOTATION]: '-oProxyCommand=x' } });
  const { out } = await described({ 'nodes/n1': node });
  expect(out).toMatch(/^Ready: +Unknown$/m);
  expect(out).toMatch(/^Address: +n1, its name$/m);
  expect(out).toMatch(/^Invalid: +the annotation stowage.dev\/address .*-oProxyCommand=x/m);
});

test('describe node shows the Volumes of a missing Node', async () => {
  const { code, out } = await described({ 'volumes/data1': available('data1', 'n1') });
  expect(code).toBe(0);
  expect(out).toMatch(/^Ready: +not in this cluster$/m);
  expect(out).toMatch(/^Blocked by: +NodeMissing: /m);
  expect(out).toMatch(/^ {2}data1 /m);
});

test('describe node fails for an unknown node', async () => {
  expect(await described({})).toMatchObject({
    code: 3,
    out: '',
    err: 'error: nodes/n1 not found\n',
  });
});

test.each([
  ['get nodes/n1', 'Ready', true],
  ['list volumes/*', 'Volumes', true],
  ['list csistoragecapacities/*', 'Free space', false],
  ['list events/source=stowage', 'Events', false],
])('describe node shows the refusal of %s in its place', async (request, label, isNoted) => {
  const printed = await described(OBJECTS, {
    failures: { [request]: refusal(403, REFUSED) },
  });
  expectRefusedPart(printed, label, isNoted);
});

test('describe node shows only free space and events of Stowage', async () => {
  const cluster = await startClaimsCluster();
  try {
    const { client } = cluster;
    await client.create(NODES, N1);
    const namespace = 'other';
    const { metadata, ...fast } = room('fast', 'n1', '1Gi');
    const ours = { ...fast, metadata: { ...metadata, namespace, labels: CAPACITY_LABELS } };
    await client.create(CSI_STORAGE_CAPACITIES, ours, { namespace });
    const foreign = { ...room('foreign', 'n1', '2Gi'), metadata: { name: 'foreign', namespace } };
    await client.create(CSI_STORAGE_CAPACITIES, foreign, { namespace });
    await client.create(EVENTS, event('n1', 'of Stowage'));
    const { code, out, err } = await cluster.stowage(['describe', 'no/n1']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^ {2}fast +1Gi$/m);
    expect(out).not.toContain('foreign');
    expect(out).toContain('of Stowage');
  } finally {
    await cluster.stop();
  }
});

test('describe node escapes control characters of the node', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202eName: forged';
  const node = nodeNamed('n1', { ready: 'False', message: evil, taints: [`t${evil}`] });
  const volume = available('data1', 'n1');
  const status = {
    ...volume.status,
    attachments: [attachmentOn('n1', { message: `m${evil}`, device: `d${evil}` })],
  };
  const { out } = await described({
    'nodes/n1': node,
    'volumes/data1': { ...volume, status } as KubeObject,
    'csistoragecapacities/1': room(`c${evil}`, 'n1', `x${evil}`),
    'events/1': event('n1', `e${evil}`),
  });
  // The message of the condition is in the blocker, too.
  expect(out.split('owned').length).toBe(9);
  expectPrintable(out);
});
