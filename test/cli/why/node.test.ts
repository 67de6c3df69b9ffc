import { describe, expect, test } from '@jest/globals';
import { type Reason, reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { attachmentOn, nodeNamed } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectSchema } from '../../support/output-page.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

const SINCE = '2029-12-31T23:50:00Z';
/** Without the retry of one of its Volumes. */
const BRING_BACK = ['stowage check node n1'];
type Objects = NonNullable<World['objects']>;

const node = (
  status: 'True' | 'False' | undefined,
  { annotations = {}, taints = [] as string[] } = {},
): Objects => ({
  'nodes/n1': nodeNamed('n1', {
    ...{ annotations, taints, since: SINCE, message: 'Kubelet stopped posting.' },
    ...(status && { ready: status }),
  }),
});
const available = (name: string): Objects => {
  const volume = volumeNamed(name, { phase: 'Available', ...ready('True', 'Available') });
  return { [`volumes/${name}`]: volume, [`persistentvolumes/${name}`]: pvOf(volume, 'Available') };
};
const on = (name: string, volume: Volume): Objects => ({ [`volumes/${name}`]: volume });
const away = on(
  'away',
  volumeNamed('away', {
    phase: 'Available',
    ...ready('Unknown', 'NodeUnreachable', 'node n1 is unreachable over ssh: no route'),
  }),
);
const awayFor = (detail: Reason): Objects => {
  const volume = away['volumes/away'] as Volume;
  const conditions = volume.status?.conditions?.map((condition) => ({ ...condition, detail }));
  return on('away', { ...volume, status: { ...volume.status, ...(conditions && { conditions }) } });
};
const failed = on(
  'bad',
  volumeNamed('bad', { phase: 'Failed', ...ready('False', 'CreationError', 'x') }),
);
const other = on('other', {
  ...volumeNamed('other', { phase: 'Failed', ...ready('False', 'CreationError', 'x') }),
  spec: { ...volumeNamed('other').spec, nodeName: 'n2' },
});
/** A Volume of another node that is attached to this one. */
const attachedThere = on('other', {
  ...(other['volumes/other'] as Volume),
  status: { phase: 'Available', ...ready('True', 'Available'), attachments: [attachmentOn('n1')] },
});

async function why(objects: Objects) {
  const { out, code, err } = await stowage(['why', 'node', 'n1', '-o', 'json'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const said = JSON.parse(out);
  expectSchema('why', said);
  return said;
}

describe('a node is held up by', () => {
  test.each<
    [
      string,
      Objects,
      { cause: string; holdup: string; phase: string; run?: string[]; chain?: string[] },
    ]
  >([
    [
      'its pause annotation, before any other cause',
      { ...node('False', { annotations: { 'stowage.dev/paused': 'true' } }), ...away },
      {
        cause: 'Paused',
        holdup: 'it is paused',
        phase: 'NotReady',
        run: ['stowage resume node n1'],
      },
    ],
    [
      'an invalid address',
      { ...node('True', { annotations: { 'stowage.dev/port': '0' } }), ...failed },
      {
        cause: 'AddressInvalid',
        holdup: 'the annotation stowage.dev/port of its Node is "0"',
        phase: 'Ready',
        run: ['kubectl annotate node n1 stowage.dev/port-'],
      },
    ],
    [
      'the out-of-service taint',
      { ...node('False', { taints: ['node.kubernetes.io/out-of-service'] }), ...away },
      {
        cause: 'NodeOutOfService',
        holdup: 'which declares it off',
        phase: 'NotReady',
        run: ['kubectl taint node n1 node.kubernetes.io/out-of-service-'],
      },
    ],
    [
      'the out-of-service taint, though it is Ready',
      { ...node('True', { taints: ['node.kubernetes.io/out-of-service'] }), ...available('a') },
      {
        cause: 'NodeOutOfService',
        holdup: 'no volume is force-detached',
        phase: 'Ready',
        run: ['kubectl taint node n1 node.kubernetes.io/out-of-service-'],
      },
    ],
    [
      'a failed probe',
      { ...node('True'), ...failed, ...away },
      { cause: 'NodeUnreachable', holdup: 'no route', phase: 'Ready', run: BRING_BACK },
    ],
    [
      'an unknown host key',
      { ...node('True'), ...awayFor(reason('HostKeyUnknown', { node: 'n1' })) },
      {
        cause: 'HostKeyUnknown',
        holdup: 'no route',
        phase: 'Ready',
        run: ['stowage check node n1 --trust-host-key SHA256:FINGERPRINT'],
      },
    ],
    [
      'no answer in time',
      { ...node('True'), ...awayFor(reason('NodeSilent', { node: 'n1', seconds: 30 })) },
      { cause: 'NodeUnreachable', holdup: 'no route', phase: 'Ready', run: BRING_BACK },
    ],
    [
      'its kubelet',
      { ...node('False'), ...available('a') },
      {
        cause: 'NodeNotReady',
        holdup: 'it is not Ready: Kubelet stopped posting.',
        phase: 'NotReady',
        run: ["kubectl taint node n1 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'"],
      },
    ],
    [
      'a Volume',
      {
        ...node('True'),
        ...available('a'),
        ...failed,
        ...other,
        'storageclasses/fast': classNamed('fast'),
      },
      {
        cause: 'UnknownReason',
        holdup: 'its Volume bad: x',
        phase: 'Ready',
        chain: ['Node n1', 'Volume bad'],
      },
    ],
    [
      'its absence from the cluster',
      { ...available('b'), ...available('a'), ...other },
      {
        cause: 'NodeMissing',
        holdup: 'there is no Node n1 in this cluster, and 2 Volumes are on it: a, b',
        phase: 'Unknown',
        run: ['stowage delete volume a --forget-node', 'stowage delete volume b --forget-node'],
      },
    ],
    [
      'its absence, though a Volume that is attached there has its data on another node',
      { ...available('a'), ...attachedThere },
      {
        cause: 'NodeMissing',
        holdup: 'there is no Node n1 in this cluster, and 2 Volumes are on it: a, other',
        phase: 'Unknown',
        run: ['stowage delete volume a --forget-node'],
      },
    ],
    [
      'its absence, with only such a Volume',
      attachedThere,
      {
        cause: 'NodeMissing',
        holdup: 'there is no Node n1 in this cluster, and a Volume is on it: other',
        phase: 'Unknown',
        run: [],
      },
    ],
  ])('%s', async (_, objects, { run, chain = ['Node n1'], holdup, ...expected }) => {
    const said = await why(objects);
    expect(said).toMatchObject({ ...expected, holdup: expect.stringContaining(holdup) });
    if (run !== undefined) expect(said.fix.run).toEqual(run);
    expect(
      said.chain.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`),
    ).toEqual(chain);
  });
});

test('why node reports no problem of a healthy node', async () => {
  expect(await why({ ...node('True'), ...available('a'), ...other })).toMatchObject({
    nothing:
      'Node n1: no problem is known; 1 Volume is on it. To check the node itself, run: stowage check node n1',
  });
});

test('why node exits with 3 for an unknown node', async () => {
  expect(await stowage(['why', 'node', 'n1'], { objects: other })).toMatchObject({
    code: 3,
    out: '',
  });
});

test('why node prints an explanation as text', async () => {
  const { out } = await stowage(['why', 'node/n1'], {
    objects: { ...node('True'), ...failed, 'storageclasses/fast': classNamed('fast') },
  });
  expect(out).toMatch(
    /^Node: +n1 \(Ready\)\nBlocked by: +its Volume bad: x\nCause: +UnknownReason \(Volume bad\)\n/,
  );
});
