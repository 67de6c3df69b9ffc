import { describe, expect, test } from '@jest/globals';
import { PAUSED_ANNOTATION } from '../../../src/api/names.ts';
import { reason } from '../../../src/api/reasons.ts';
import type { VolumeFacts } from '../../../src/cli/why/types.ts';
import { ago, nodeNamed, attachmentOn as on } from '../../support/cluster-objects.ts';
import { onNode } from '../../support/volumes.ts';
import {
  available,
  bound,
  explain,
  forbidden,
  found,
  pv,
  ready,
  volume,
} from './volume-diagnosis.ts';

test('reports an expansion that failed, and when it is retried', () => {
  const message = 'expanding to 8E: attempt 4: truncate: File too large';
  const it = volume({
    ...available.status,
    job: 'GrowVolume/5',
    attempt: 5,
    ...ready('True', 'Available', message),
  });
  expect(explain(it, bound)).toMatchObject({
    holdup: expect.stringContaining(message),
    next: expect.anything(),
  });
  expect(
    explain(
      volume({
        phase: 'Available',
        ...ready('True', 'Available', {
          message: 'cannot expand to 2 bytes: no room',
          detail: reason('CannotGrow', { bytes: 2, why: 'no room' }),
        }),
      }),
      bound,
    ),
  ).toMatchObject({
    holdup:
      'its device is Available and usable, but not expanded: cannot expand to 2 bytes: no room',
    next: { when: 'every 30 s' },
  });
  const earlier = volume({
    phase: 'Available',
    ...ready('True', 'Available', 'cannot expand to 2 bytes: no room'),
  });
  expect(explain(earlier, bound)).toMatchObject({
    cause: 'UnknownReason',
    holdup: 'its device is Available and usable: cannot expand to 2 bytes: no room',
  });
  const growing = volume({ ...available.status, job: 'GrowVolume/1', attempt: 1 });
  expect(explain(growing, bound)).toHaveProperty('nothing');
});

describe('a PersistentVolume whose node affinity', () => {
  const labeled = (hostname?: string) => {
    const node = nodeNamed('n1.example.com', { ready: 'True', since: ago(900) });
    const labels = hostname === undefined ? {} : { 'kubernetes.io/hostname': hostname };
    return found({ ...node, metadata: { ...node.metadata, labels } });
  };
  const selecting = (nodeAffinity: unknown) => {
    const object = pv('Available').found;
    return found({ ...object, spec: { ...object.spec, nodeAffinity } });
  };
  const it = volume(available.status, { spec: { nodeName: 'n1.example.com' } });

  test('selects another hostname label than that of the node: HostnameLabelDiffers', () => {
    const world = { pv: selecting(onNode('n1.example.com')), node: labeled('n1') };
    expect(explain(it, world)).toMatchObject({
      cause: 'HostnameLabelDiffers',
      holdup:
        'no pod fits PersistentVolume data1: it selects the label kubernetes.io/hostname n1.example.com, and node n1.example.com has n1',
      fix: { say: expect.stringContaining('Give the node that label') },
    });
  });

  test.each<[string, Partial<VolumeFacts>]>([
    ['selects the label', { pv: selecting(onNode('n1')), node: labeled('n1') }],
    [
      'selects the name that is the label',
      { pv: selecting(onNode('n1.example.com')), node: labeled() },
    ],
    [
      'selects by other labels',
      {
        pv: selecting({ required: { nodeSelectorTerms: [{ matchExpressions: null }, {}] } }),
        node: labeled('n1'),
      },
    ],
    ['is of a node that may not be read', { pv: selecting(onNode('x')), node: forbidden }],
  ])('%s is no problem', (_, world) => {
    expect(explain(it, world)).toHaveProperty('nothing');
  });

  test('is that of several nodes is no problem', () => {
    const shared = volume(available.status, { spec: { attachableNodes: ['n1', 'n2'] } });
    expect(explain(shared, { pv: selecting(onNode('n2')) })).toHaveProperty('nothing');
  });
});

describe('an Available Volume', () => {
  test.each([
    [pv('Available'), 'no claim is bound to it yet'],
    [pv('Bound'), 'bound to the claim db/data-0'],
    [pv('Released'), 'which is gone'],
    [pv('Bound', { deletionTimestamp: ago(5) }), 'marked for deletion'],
    [forbidden, 'nothing holds it up'],
  ])('is not held up with the PersistentVolume %j', (its, text) => {
    expect(explain(available, { pv: its })).toEqual({ nothing: expect.stringContaining(text) });
  });

  test('lists the nodes that it is attached to', () => {
    const it = volume({
      ...available.status,
      attachments: [on('n1'), on('n2', { state: 'Attaching' })],
    });
    expect(explain(it, bound)).toEqual({
      nothing: expect.stringMatching(/it is attached to n1, n2$/),
    });
  });

  test('is not held up while paused', () => {
    const it = volume(available.status, {
      metadata: { annotations: { [PAUSED_ANNOTATION]: 'true' } },
    });
    expect(explain(it, bound)).toHaveProperty('nothing');
  });
});
