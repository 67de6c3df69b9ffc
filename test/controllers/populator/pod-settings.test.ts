import { expect, test } from '@jest/globals';
import type { KubeNode, Pod, Toleration } from '../../../src/api/core.ts';
import type { PopulatorPod } from '../../../src/api/populator.ts';
import { tolerationsOf } from '../../../src/controllers/populator/consumer-tolerations.ts';
import { podOf } from '../../../src/controllers/populator/objects.ts';
import { populatorUser } from '../../../src/controllers/populator/pod-security.ts';
import { claim, definition, found, OWN } from './input.ts';

const POD = definition.spec.pod as PopulatorPod;
const DEDICATED = { key: 'dedicated', operator: 'Exists' };

interface Made {
  spec: {
    securityContext: object;
    tolerations?: Toleration[];
    nodeSelector?: object;
    containers: { securityContext: object }[];
  };
  metadata: { annotations: Record<string, string> };
}

const podWith = (more: Partial<PopulatorPod>, tolerations: Toleration[] = [], user = 65532) =>
  podOf(
    claim(),
    { ...definition, spec: { ...definition.spec, pod: { ...POD, ...more } } },
    found.object,
    { namespace: OWN, user, tolerations },
  ) as unknown as Made;

const RESTRICTED = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  fsGroupChangePolicy: 'OnRootMismatch',
};
const localhost = { type: 'Localhost', localhostProfile: 'fill.json' } as const;

test.each<[string, PopulatorPod['securityContext'], object]>([
  [
    'an unprivileged user by default',
    undefined,
    { ...RESTRICTED, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
  ],
  [
    'a user, whose group may write',
    { runAsUser: 1000 },
    { ...RESTRICTED, runAsUser: 1000, fsGroup: 1000 },
  ],
  [
    'a user and a group, which may write',
    { runAsUser: 1000, runAsGroup: 2000 },
    { ...RESTRICTED, runAsUser: 1000, runAsGroup: 2000, fsGroup: 2000 },
  ],
  [
    'the default user with other groups',
    { fsGroup: 7, supplementalGroups: [8] },
    { ...RESTRICTED, runAsUser: 65532, runAsGroup: 65532, fsGroup: 7, supplementalGroups: [8] },
  ],
  ['the user of the image', { runAsNonRoot: true }, { ...RESTRICTED, fsGroup: 65532 }],
  ['any user of the image', { runAsNonRoot: false }, { ...RESTRICTED, runAsNonRoot: false }],
  ['root', { runAsUser: 0 }, { ...RESTRICTED, runAsNonRoot: false, runAsUser: 0 }],
  [
    'another seccomp profile',
    { runAsUser: 1, seccompProfile: localhost, fsGroupChangePolicy: 'Always' },
    {
      ...{ runAsNonRoot: true, runAsUser: 1, fsGroup: 1 },
      ...{ seccompProfile: localhost, fsGroupChangePolicy: 'Always' },
    },
  ],
])('a pod runs as %s', (_, securityContext, expected) => {
  expect(podWith({ ...(securityContext && { securityContext }) }).spec.securityContext).toEqual(
    expected,
  );
});

test.each<[PopulatorPod['containerSecurityContext'], object]>([
  [undefined, { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }],
  [
    { readOnlyRootFilesystem: true, capabilities: { add: ['CHOWN'] } },
    {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'], add: ['CHOWN'] },
    },
  ],
  [
    { allowPrivilegeEscalation: true, capabilities: {} },
    { allowPrivilegeEscalation: true, capabilities: { drop: ['ALL'] } },
  ],
])('a container with the settings %j gets no other rights', (settings, expected) => {
  const [container] = podWith({ ...(settings && { containerSecurityContext: settings }) }).spec
    .containers;
  expect(container?.securityContext).toEqual(expected);
});

test('a pod has its tolerations before those of the waiting pod, and the selector', () => {
  const own = { key: 'own', operator: 'Exists' };
  const { spec, metadata } = podWith({ tolerations: [own], nodeSelector: { tier: 'fast' } }, [
    DEDICATED,
  ]);
  expect(spec.tolerations).toEqual([own, DEDICATED]);
  expect(spec.nodeSelector).toEqual({ tier: 'fast' });
  expect(metadata.annotations['stowage.dev/populate-tolerations']).toMatch(/^[0-9a-f]{32}$/);
});

test('a pod without settings is neither tolerant nor selective', () => {
  const { spec, metadata } = podWith({});
  expect(spec).not.toHaveProperty('tolerations');
  expect(spec).not.toHaveProperty('nodeSelector');
  expect(metadata.annotations).not.toHaveProperty(['stowage.dev/populate-tolerations']);
});

test('a cluster that assigns user IDs gets pods with the one of the daemon', () => {
  expect(podWith({}, [], 1_000_680_000).spec.securityContext).toMatchObject({
    ...{ runAsUser: 1_000_680_000, runAsGroup: 1_000_680_000, fsGroup: 1_000_680_000 },
  });
  expect(populatorUser(1_000_680_000, true)).toBe(1_000_680_000);
  // On a machine, the user ID means nothing in pods. Root is never the default.
  expect(populatorUser(998, false)).toBe(65532);
  expect(populatorUser(0, true)).toBe(65532);
  expect(populatorUser(undefined, true)).toBe(65532);
});

const consumer = (name: string, key: string, more: object = {}): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
  spec: { tolerations: [{ key, operator: 'Exists' }] },
  ...more,
});
const tainted = (...keys: string[]): KubeNode => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
  spec: { taints: keys.map((key) => ({ key, effect: 'NoSchedule' })) },
});

test.each<[string, Pod[], KubeNode | undefined, string[]]>([
  ['no pod', [], tainted('a'), []],
  ['the pod', [consumer('x', 'a')], undefined, ['a']],
  ['the first pod', [consumer('y', 'b'), consumer('x', 'a')], undefined, ['a']],
  [
    'the pod for which the node was selected',
    [consumer('x', 'a'), consumer('y', 'b')],
    tainted('b'),
    ['b'],
  ],
  // Two pods together tolerate more than each of them: no node with both taints is reached.
  ['one pod alone', [consumer('x', 'a'), consumer('y', 'b')], tainted('a', 'b'), ['a']],
  ['no pod that has a node', [consumer('x', 'a', { spec: { nodeName: 'n1' } })], undefined, []],
  ['no pod that ended', [consumer('x', 'a', { status: { phase: 'Failed' } })], undefined, []],
  [
    'no pod that is deleted',
    [consumer('x', 'a', { metadata: { name: 'x', deletionTimestamp: 'now' } })],
    undefined,
    [],
  ],
])('a populator pod tolerates what one waiting pod tolerates: %s', (_, pods, node, keys) => {
  expect(tolerationsOf(pods, node).map(({ key }) => key)).toEqual(keys);
});
