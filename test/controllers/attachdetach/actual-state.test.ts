import { describe, expect, test } from '@jest/globals';
import { explain } from '../../../src/api/reasons.ts';
import {
  change,
  withoutNode,
  withPods,
} from '../../../src/controllers/attachdetach/actual-state.ts';
import {
  attachmentsFromAnnotation,
  attachmentsOf,
  recordOf,
  recordToWrite,
} from '../../../src/controllers/attachdetach/attached-nodes-annotation.ts';
import { entry, NOW, use, wanted } from '../../support/attachment-view.ts';

const never = () => false;
const nodesOf = (annotation: string | undefined) =>
  attachmentsFromAnnotation(annotation, undefined, NOW).map(({ node }) => node);

describe('the record of attached nodes', () => {
  test.each<[string, string | undefined, string[]]>([
    ['none', undefined, []],
    ['empty', '', []],
    ['an empty list', '[]', []],
    ['sorted, each once', '["n2","n1","n2"]', ['n1', 'n2']],
    ['other things among names', '["n1",7,null,{"a":"n3"},["n4"],"n2"]', ['n1', 'n2']],
    ['invalid names', '["n1","../n2","N3","n 4","","-n5","$(reboot)"]', ['n1']],
    ['too long a name', JSON.stringify(['n1', 'a'.repeat(254)]), ['n1']],
    ['a truncated list', '["n1","n2","n', ['n1', 'n2']],
    ['no list', '{"n1":"n2"}', ['n1', 'n2']],
    ['one name', '"n1"', ['n1']],
    ['a number', '7', []],
    ['null', 'null', []],
    ['no JSON', 'n1,n2', []],
    ['binary', '\u0000\ud800["n1"', ['n1']],
    ['deeply nested', '['.repeat(100_000), []],
  ])('is read from an annotation: %s', (_, annotation, nodes) => {
    expect(nodesOf(annotation)).toEqual(nodes);
  });

  test('restores each node as Uncertain', () => {
    expect(attachmentsFromAnnotation('["n1"]', undefined, NOW)).toEqual([
      entry('n1', { state: 'Uncertain', since: NOW }),
    ]);
  });

  test('adds nodes of status.attachments, with their readOnly and since', () => {
    const attachments = attachmentsOf([
      entry('n2', { readOnly: true, safeToDetach: true }, 'a'),
      entry('n3', { state: 'Detaching', ...explain('StillAttached') }),
    ]);
    const since = NOW - 600_000;
    expect(attachmentsFromAnnotation('["n1","n2"]', attachments, NOW)).toEqual([
      entry('n1', { state: 'Uncertain', since: NOW }),
      entry('n2', { state: 'Uncertain', readOnly: true, since }),
      entry('n3', { state: 'Uncertain', since }),
    ]);
  });

  test.each<[string, unknown]>([
    ['no list', { node: 'n1' }],
    ['no valid entry', [null, {}, 'n1', 7]],
    ['invalid names', [{ node: 7 }, { node: '../n1' }, { node: '' }]],
    [
      'invalid reasons',
      [
        { node: '', detail: 7 },
        { node: '', detail: { code: {} } },
      ],
    ],
  ])('ignores a malformed status: %s', (_, attachments) => {
    expect(
      attachmentsFromAnnotation('["n9"]', attachments as never, NOW).map(({ node }) => node),
    ).toEqual(['n9']);
  });

  test('ignores an invalid time and a readOnly that is not a boolean', () => {
    const attachments = [{ node: 'n1', readOnly: 'true', since: 'yesterday' }];
    expect(attachmentsFromAnnotation(undefined, attachments as never, NOW)).toEqual([
      entry('n1', { state: 'Uncertain', since: NOW }),
    ]);
  });

  test('contains the nodes of all entries, in any state', () => {
    const entries = [
      entry('n2'),
      entry('n3', { state: 'Uncertain' }),
      entry('n1', { state: 'Detaching' }),
    ];
    expect(recordOf(entries)).toEqual(['n1', 'n2', 'n3']);
    expect(nodesOf(JSON.stringify(recordOf(entries)))).toEqual(['n1', 'n2', 'n3']);
    expect(recordOf([])).toEqual([]);
  });

  test('is shown in status.attachments, with pods and reasons', () => {
    const entries = [
      entry('n2', { state: 'Uncertain', ...explain('JobStillRuns', { node: 'n2' }) }),
      entry('n1', { readOnly: true, safeToDetach: true }, 'b', 'a', 'a'),
    ];
    expect(attachmentsOf(entries)).toEqual([
      {
        node: 'n1',
        state: 'Attached',
        readOnly: true,
        safeToMount: true,
        safeToDetach: true,
        pods: ['app/a', 'app/b'],
        since: '2026-03-01T11:50:00.000Z',
      },
      {
        node: 'n2',
        state: 'Uncertain',
        safeToMount: false,
        safeToDetach: false,
        pods: [],
        since: '2026-03-01T11:50:00.000Z',
        message: 'a job of this Volume still runs on node n2',
        detail: { code: 'JobStillRuns', parameters: { node: 'n2' } },
      },
    ]);
  });
});

describe('attachment entries', () => {
  test('contain a node once and keep the order of nodes', () => {
    const [first, added, last] = change(
      [entry('n1'), entry('n3')],
      'n2',
      { state: 'Attaching' },
      NOW,
    );
    expect([first, last]).toEqual([entry('n1'), entry('n3')]);
    expect(added).toEqual(entry('n2', { state: 'Attaching', since: NOW }));
    expect(change([entry('n1'), entry('n3')], 'n1', { message: 'busy' }, NOW)).toEqual([
      entry('n1', { message: 'busy' }),
      entry('n3'),
    ]);
  });

  test('drop the detail when the message is replaced or cleared', () => {
    const told = change([entry('n1')], 'n1', explain('StillAttached'), NOW);
    expect(change(told, 'n1', { state: 'Uncertain' }, NOW)[0]).toMatchObject(
      explain('StillAttached'),
    );
    expect(change(told, 'n1', { message: 'busy' }, NOW)[0]?.detail).toBeUndefined();
    expect(change(told, 'n1', { message: undefined }, NOW)[0]?.detail).toBeUndefined();
  });

  test('are returned unchanged if the node to remove is absent', () => {
    const entries = [entry('n1'), entry('n2')];
    expect(withoutNode(entries, 'n1')).toEqual([entry('n2')]);
    expect(withoutNode(entries, 'n3')).toBe(entries);
  });

  test('get a new since with a new state; only Attached is safe to mount', () => {
    const attached = entry('n1', { device: 'loop1' });
    const detaching = change([attached], 'n1', { state: 'Detaching', safeToDetach: true }, NOW);
    expect(detaching).toMatchObject([
      { state: 'Detaching', safeToMount: false, safeToDetach: true, device: 'loop1', since: NOW },
    ]);
    expect(change(detaching, 'n1', { state: 'Uncertain' }, NOW)).toMatchObject([
      { state: 'Uncertain', safeToMount: false, safeToDetach: false, device: undefined },
    ]);
    expect(change([attached], 'n1', { state: 'Attached' }, NOW)).toEqual([attached]);
  });
});

describe('the pods of attachment entries', () => {
  const entries = [entry('n1', {}, 'a', 'b'), entry('n2')];

  test('cause no change if they are the same in another order', () => {
    expect(withPods(entries, [wanted('n1', 'b', 'a')], never)).toBe(entries);
  });

  test.each<[string, Parameters<typeof withPods>[1], (uid: string) => boolean, string[], string[]]>(
    [
      ['all pods gone', [], () => false, [], []],
      ['one pod gone', [wanted('n1', 'b')], () => false, ['b'], []],
      ['active pods whose claims are gone', [], () => true, ['a', 'b'], []],
      ['one pod still active', [], (uid) => uid === 'uid-a', ['a'], []],
      [
        'new pods',
        [wanted('n1', 'a', 'b', 'c'), wanted('n2', 'd')],
        () => false,
        ['a', 'b', 'c'],
        ['d'],
      ],
      ['a pod moved', [wanted('n2', 'a')], () => false, [], ['a']],
      ['a pod on a node without an entry', [wanted('n3', 'a')], () => false, [], []],
    ],
  )('are updated: %s', (_, want, alive, first, second) => {
    const [one, other] = withPods(entries, want, ({ uid }) => alive(uid));
    expect(one?.pods).toEqual(first.map((name) => use(name, 'n1')));
    expect(other?.pods).toEqual(second.map((name) => use(name, 'n2')));
  });

  test('are replaced by a recreated pod with another UID', () => {
    const again = { ...use('a', 'n1'), uid: 'new' };
    const [one] = withPods([entry('n1', {}, 'a')], [{ node: 'n1', pods: [again] }], never);
    expect(one?.pods).toEqual([again]);
  });
});

describe('recordToWrite', () => {
  const written = '["n1"]';

  test.each([
    ['an entry appeared', written, [entry('n1'), entry('n2')], '["n1","n2"]'],
    ['an entry vanished', written, [], '[]'],
    ['another node', written, [entry('n2')], '["n2"]'],
    ['pods came', written, [entry('n1', {}, 'a')], undefined],
    ['another state', written, [entry('n1', { state: 'Detaching' })], undefined],
    ['an invalid record', 'junk', [entry('n1')], written],
    ['no record yet', undefined, [entry('n1')], written],
    ['no record and no entries', undefined, [], undefined],
  ])('returns the record only if it changes: %s', (_, before, entries, record) => {
    expect(recordToWrite(before, entries)).toBe(record);
  });
});
