import { describe, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import type { ObjectMeta } from '../../../src/api/meta.ts';
import { PAUSED_ANNOTATION } from '../../../src/api/names.ts';
import { reason } from '../../../src/api/reasons.ts';
import { ago, attachmentOn as on } from '../../support/cluster-objects.ts';
import { available, bound, explain, forbidden, pv, ready, volume } from './volume-diagnosis.ts';

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
    fix: {
      say: expect.stringMatching(/^Remove the cause .* Then retry the expansion\. Leave it/),
      run: ['stowage retry volume data1'],
    },
  });
  const lacks = reason('ToolMissing', { program: 'resize2fs', step: 'grow the file system' });
  const lacking = volume({
    ...it.status,
    ...ready('True', 'Available', { message, detail: lacks }),
  });
  expect(explain(lacking, bound)).toMatchObject({
    reason: lacks,
    fix: { run: ['ssh n1 apt-get install -y e2fsprogs', 'stowage retry volume data1'] },
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

  describe('whose PersistentVolume is Released', () => {
    const { found: its } = pv('Released', { uid: 'uid-pv' });
    const claimRef = { namespace: 'db', name: 'data-0', uid: 'uid-earlier' };
    const explained = (spec: Partial<PersistentVolume['spec']>, more: Partial<ObjectMeta> = {}) =>
      explain(available, {
        pv: {
          found: { ...its, metadata: { ...its.metadata, ...more }, spec: { ...its.spec, ...spec } },
        },
      });

    test('names the command that frees it, and who gets the data', () => {
      expect(explained({ claimRef })).toEqual({
        nothing: expect.stringContaining('db/data-0, which is gone'),
        fix: {
          say: 'To use data1 again, clear its claimRef. The first claim that fits it, in any namespace, then gets its data.',
          run: [
            `kubectl patch pv data1 --type json -p '[{"op":"test","path":"/metadata/uid","value":"uid-pv"},{"op":"test","path":"/spec/claimRef/uid","value":"uid-earlier"},{"op":"remove","path":"/spec/claimRef"}]'`,
          ],
        },
      });
    });

    test.each<[string, Partial<PersistentVolume['spec']>, Partial<ObjectMeta>]>([
      ['is deleted with its claim', { claimRef, persistentVolumeReclaimPolicy: 'Delete' }, {}],
      ['is being deleted', { claimRef }, { deletionTimestamp: ago(5) }],
      ['names no UID of a claim', { claimRef: { namespace: 'db', name: 'data-0' } }, {}],
    ])('names none if it %s', (_, spec, metadata) => {
      expect(explained(spec, metadata)).toEqual({ nothing: expect.any(String) });
    });
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
