import { describe, expect, test } from '@jest/globals';
import type { CsiStorageCapacity } from '../../../src/api/core.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { publicMessage, withoutCredentials } from '../../../src/cli/ui/public-text.ts';
import { nodeRow, volumeRow } from '../../../src/cli/ui/rows.ts';
import { volumeDetail } from '../../../src/cli/ui/volume-detail.ts';
import { whyDetail } from '../../../src/cli/ui/why-detail.ts';
import { attachmentOn, nodeNamed } from '../../support/cluster-objects.ts';
import { pvOf, ready, volumeNamed } from '../../support/volumes.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const BIDI = '\u202egpj.exe\u2066';
const CONTROL = '\u0000\u001b]0;x\u0007\u009b';
const HOSTILE = `${MARKUP}${BIDI}${CONTROL}${'n'.repeat(300)}`;
const SECRET = 'hunter2';

/** A Volume whose every text is hostile, with fields that no page may get. */
const hostile = {
  apiVersion: 'v1',
  kind: 'Volume',
  metadata: {
    name: HOSTILE,
    uid: HOSTILE,
    resourceVersion: HOSTILE,
    creationTimestamp: HOSTILE,
    annotations: { password: SECRET },
    managedFields: [{ manager: SECRET }],
  },
  spec: {
    nodeName: HOSTILE,
    storageClassName: HOSTILE,
    sparseLoopDevice: { size: HOSTILE, directory: HOSTILE },
    overwrite: `https://me:${SECRET}@example.com/x`,
    source: {
      populator: {
        builtin: 'Image',
        namespace: 'a',
        name: 'b',
        options: { url: `https://me:${SECRET}@example.com/x?sig=${SECRET}` },
      },
    },
  },
  status: {
    phase: HOSTILE,
    conditions: [
      { type: HOSTILE, status: HOSTILE, reason: HOSTILE, message: HOSTILE },
      { type: 'Ready', status: HOSTILE, reason: HOSTILE, message: HOSTILE },
    ],
    attachments: [{ ...attachmentOn(HOSTILE), pods: [HOSTILE], message: HOSTILE }],
    prepared: { node: HOSTILE, paths: [HOSTILE], identity: HOSTILE },
  },
} as unknown as Volume;

/** Returns all texts in data. */
const textsIn = (data: unknown): string[] =>
  typeof data === 'string'
    ? [data]
    : typeof data === 'object' && data !== null
      ? Object.values(data).flatMap(textsIn)
      : [];

const absent = { absent: true } as const;
const NONE = { pv: absent, claim: absent, pods: absent };

describe('a hostile Volume', () => {
  test('gives a row of bounded texts that steer nothing', () => {
    const row = volumeRow(hostile, undefined);
    const { attachments, ...texts } = row;
    for (const text of textsIn(row)) {
      expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
      expect(text.length).toBeLessThanOrEqual(2001);
    }
    for (const text of textsIn(texts)) expect(text.length).toBeLessThanOrEqual(254);
    expect(attachments).toHaveLength(1);
    expect(row.name).toContain(MARKUP);
    expect(row).toMatchObject({ bytes: 0, created: '' });
  });

  test('gives a detail without annotations, managed fields and credentials', () => {
    const { yaml, ...detail } = volumeDetail(hostile, NONE, { found: [] }, {});
    for (const text of textsIn(detail)) {
      expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
      expect(text.length).toBeLessThanOrEqual(2001);
    }
    expect(JSON.stringify(detail)).not.toContain(SECRET);
    // The YAML has annotations, as `get -o yaml` has, and no more.
    expect(yaml).toEqual({ found: expect.stringContaining('https://…@example.com/x?…') });
    const [text = ''] = textsIn(yaml);
    expect(text).not.toMatch(/managedFields|[^\n\P{Cc}]|\p{Bidi_Control}/u);
    expect(text.match(new RegExp(SECRET, 'g'))).toHaveLength(1);
    expect(detail.command).toEqual({ missing: expect.stringContaining('No flags') });
  });

  test('gives a result of why whose texts steer nothing', () => {
    const why = whyDetail({
      cause: HOSTILE,
      holdup: HOSTILE,
      since: HOSTILE,
      fix: { say: HOSTILE },
    });
    for (const text of textsIn(why)) expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
  });
});

test.each([
  ['https://me:pw@example.com/x', 'https://…@example.com/x'],
  ['"https://me@example.com"', '"https://…@example.com"'],
  ['https://me:p@w@example.com/a', 'https://…@example.com/a'],
  ['s3+http://k:s@h/b?sig=1&x=2 and more', 's3+http://…@h/b?… and more'],
  ['https://me:p/w@example.com/a', 'https://…@example.com/a'],
  ['https://example.com/#access_token=abc done', 'https://example.com/?… done'],
  ['https://example.com/a@b', 'https://example.com/a@b'],
  ['mail me@example.com', 'mail me@example.com'],
])('%s is shown as %s', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});

test('a login at the place where a text is cut is removed', () => {
  const text = `${'x'.repeat(1982)} https://me:${SECRET}@example.com/`;
  expect(publicMessage(text)).not.toContain('hunter');
});

test('a login that YAML writes over several lines is removed', () => {
  const volume = volumeNamed('a');
  const password = `${'p'.repeat(100)}${SECRET}`;
  volume.spec.overwrite = `\u0007${'word '.repeat(12)}https://me:${password}@example.com/`;
  const { yaml } = volumeDetail(volume, NONE, { found: [] }, {});
  expect(yaml).toEqual({ found: expect.stringContaining('overwrite') });
  expect(
    textsIn(yaml)
      .join()
      .replaceAll(/\\?\n */g, ''),
  ).not.toMatch(/ppp|hunter/);
});

test('a long hostile text is checked in time', () => {
  for (const part of ['a', 'a://', '://', '?', '@', '//a:b', '%3A%2F%2F', '\\/']) {
    const begun = performance.now();
    publicMessage(part.repeat(1 << 20));
    expect(performance.now() - begun).toBeLessThan(10_000);
  }
});

describe('the row of a Volume', () => {
  const volume = volumeNamed('data1', {
    ...ready('True', 'Ready'),
    phase: 'Available',
    capacity: String(2 ** 31),
  });

  test('has named fields', () => {
    expect(volumeRow(volume, pvOf(volume, 'Bound'))).toEqual({
      name: 'data1',
      node: 'n1',
      type: 'sparse file',
      size: '2Gi',
      bytes: 2 ** 31,
      phase: 'Available',
      ready: 'True',
      reason: 'Ready',
      claim: 'db/data-0',
      created: '2029-12-31T19:00:00.000Z',
      paused: false,
      deleting: false,
      attachments: [],
      version: 'uid-data1/',
    });
  });

  test('has the claim of its own PersistentVolume only', () => {
    const other = pvOf(volumeNamed('other'), 'Bound');
    expect(volumeRow(volume, other).claim).toBe('');
    expect(volumeRow(volume, undefined).claim).toBe('');
  });

  test('has the requested size and the phase Unknown before the daemon reports', () => {
    expect(volumeRow(volumeNamed('a'), undefined)).toMatchObject({
      size: '1Gi',
      bytes: 1 << 30,
      phase: 'Unknown',
      ready: '',
    });
  });

  test('has no type for an invalid spec', () => {
    const invalid = { ...volumeNamed('a'), spec: { nodeName: '', storageClassName: '' } };
    expect(volumeRow(invalid, undefined)).toMatchObject({ type: '', size: '', bytes: 0, node: '' });
  });
});

test('the row of a node has its room by class, and no address', () => {
  const capacity = (storageClassName: string, bytes: string) =>
    ({ storageClassName, capacity: bytes }) as CsiStorageCapacity;
  const node = nodeNamed('n1', { ready: 'True', annotations: { 'stowage.dev/address': SECRET } });
  expect(nodeRow(node, [capacity('slow', '2Gi'), capacity('fast', 'x')])).toEqual({
    name: 'n1',
    ready: 'True',
    paused: false,
    room: [
      { storageClass: 'fast', bytes: 0 },
      { storageClass: 'slow', bytes: 2 ** 31 },
    ],
  });
});
