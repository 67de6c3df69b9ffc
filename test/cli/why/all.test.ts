import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { DRIVER } from '../../../src/api/names.ts';
import { reason } from '../../../src/api/reasons.ts';
import { groupsOf, type HeldUp } from '../../../src/cli/why/all/groups.ts';
import type { Blocker, Link } from '../../../src/cli/why/types.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { ago, nodeNamed, podNamed } from '../../support/cluster-objects.ts';
import { stowage } from '../../support/fake-io.ts';
import { expectSchema } from '../../support/output-page.ts';
import { claimNamed } from '../../support/snapshots.ts';
import { UID } from '../../support/volume-input.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

/** The condition that kube-scheduler sets. */
const unscheduled = {
  ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
  message: '0/1 nodes are available: 1 node(s) did not have enough free storage.',
};

const volume = (name: string): Link => ({ kind: 'Volume', name });

const heldUp = (subject: Link, blocker: Partial<Blocker> = {}): HeldUp => ({
  subject: { ...subject, phase: 'Pending' },
  blocker: { cause: 'NodeUnreachable', holdup: 'no answer', ...blocker },
});

const grouped = (found: readonly HeldUp[]) =>
  groupsOf(found).map(({ blocker, root, objects }) => [
    blocker.cause,
    root.name,
    objects.map(({ name }) => name),
  ]);

describe('objects that are held up are grouped', () => {
  const node = { chain: [{ kind: 'Node', name: 'n1' }] };
  const fix = { say: 'Do it.', run: ['true'] };
  const usedBy = (uses: string) => ({
    ...node,
    reason: reason('DeviceInUse', { device: '/dev/loop0', uses }),
  });
  const CLAIM = { kind: 'PersistentVolumeClaim', namespace: 'db', name: 'data' };
  const POD = { kind: 'Pod', namespace: 'db', name: 'p' };

  test.each<[string, HeldUp[], ReturnType<typeof grouped>]>([
    ['into no groups if there are none', [], []],
    [
      'by the last object of their chains',
      [
        heldUp(volume('a'), node),
        heldUp({ kind: 'Pod', namespace: 'db', name: 'p' }, { chain: [volume('b')] }),
        heldUp(volume('b')),
        heldUp(volume('c'), node),
      ],
      [
        ['NodeUnreachable', 'n1', ['a', 'c']],
        ['NodeUnreachable', 'b', ['p', 'b']],
      ],
    ],
    [
      'apart if that object has different causes',
      [heldUp(volume('a'), node), heldUp(volume('b'), { ...node, cause: 'HostKeyChanged' })],
      [
        ['NodeUnreachable', 'n1', ['a']],
        ['HostKeyChanged', 'n1', ['b']],
      ],
    ],
    [
      'apart by what uses each device on a node',
      [heldUp(volume('a'), usedBy('/mnt/x')), heldUp(volume('b'), usedBy('/mnt/y'))],
      [
        ['NodeUnreachable', 'n1', ['a']],
        ['NodeUnreachable', 'n1', ['b']],
      ],
    ],
    [
      'together with the pods that wait for them',
      [
        heldUp(volume('a'), usedBy('/mnt/x')),
        heldUp(
          { kind: 'Pod', namespace: 'db', name: 'p' },
          { ...usedBy('/mnt/x'), chain: [volume('a'), ...node.chain], holdup: 'Volume a: in use' },
        ),
      ],
      [['NodeUnreachable', 'n1', ['a', 'p']]],
    ],
    [
      'apart by the time of an unknown reason on a node',
      [
        heldUp(volume('a'), { ...node, cause: 'UnknownReason', since: ago(2) }),
        heldUp(volume('b'), { ...node, cause: 'UnknownReason', since: ago(1) }),
        heldUp(
          { kind: 'Pod', namespace: 'db', name: 'p' },
          { cause: 'UnknownReason', since: ago(2), chain: [volume('a'), ...node.chain] },
        ),
      ],
      [
        ['UnknownReason', 'n1', ['a', 'p']],
        ['UnknownReason', 'n1', ['b']],
      ],
    ],
    [
      'by the fix of a cause of the daemon, beside their claims and apart from another fix',
      [
        heldUp(volume('a'), { cause: 'NotTakenUp', fix }),
        heldUp(volume('b'), { cause: 'NotTakenUp', fix }),
        heldUp(CLAIM, { cause: 'NotTakenUp', fix, chain: [volume('b')], holdup: 'Volume b: no' }),
        heldUp(POD, { cause: 'NotTakenUp', fix: { ...fix, run: ['false'] } }),
        heldUp(volume('c'), { cause: 'ControllerOff', fix }),
        heldUp(volume('d'), { cause: 'ControllerOff', fix }),
      ],
      [
        ['NotTakenUp', 'a', ['a', 'b', 'data']],
        ['ControllerOff', 'c', ['c', 'd']],
        ['NotTakenUp', 'p', ['p']],
      ],
    ],
    [
      'apart by the explanation of a cause of the daemon',
      [
        heldUp(volume('a'), { cause: 'NotTakenUp', fix, holdup: 'not observed' }),
        heldUp(volume('b'), { cause: 'NotTakenUp', fix, holdup: 'deletion not observed' }),
      ],
      [
        ['NotTakenUp', 'a', ['a']],
        ['NotTakenUp', 'b', ['b']],
      ],
    ],
    [
      'at the claim if a claim and its pod wait for each other',
      [
        heldUp(CLAIM, { cause: 'NoRoom', chain: [POD] }),
        heldUp(POD, { cause: 'NoRoom', chain: [CLAIM] }),
      ],
      [['NoRoom', 'data', ['data', 'p']]],
    ],
    [
      'in order: manual fixes, then the most objects, then the oldest',
      [
        ...[heldUp(volume('new'), { since: ago(1) }), heldUp(volume('old'), { since: ago(2) })],
        ...[heldUp(volume('a'), node), heldUp(volume('b'), node)],
        heldUp(volume('fix'), { fix }),
      ],
      [
        ['NodeUnreachable', 'fix', ['fix']],
        ['NodeUnreachable', 'n1', ['a', 'b']],
        ['NodeUnreachable', 'old', ['old']],
        ['NodeUnreachable', 'new', ['new']],
      ],
    ],
  ])('%s', (_, found, expected) => {
    expect(grouped(found)).toEqual(expected);
  });

  test.each<[string, string[], Blocker['next']]>([
    ['the next attempt if all have the same', ['soon', 'soon'], { when: 'soon' }],
    ['no next attempt if theirs differ', ['with a daemon for n1', 'with one for n2'], undefined],
  ])('by a cause of the daemon with %s', (_, nexts, next) => {
    const found = nexts.map((when, index) =>
      heldUp(volume(`v${index}`), { cause: 'NotTakenUp', fix, next: { when } }),
    );
    expect(groupsOf(found).map(({ blocker }) => blocker.next)).toEqual([next]);
  });

  test('with the explanation of the object nearest to the cause', () => {
    const [group] = groupsOf([
      heldUp({ kind: 'Pod', namespace: 'db', name: 'p' }, { chain: [volume('b')], holdup: 'far' }),
      heldUp(volume('b'), { holdup: 'near' }),
    ]);
    expect(group?.blocker.holdup).toBe('near');
  });
});

describe('stowage why --all', () => {
  const away = ready('Unknown', 'NodeUnreachable', 'node n1 is unreachable over ssh: timeout');
  const objects: Record<string, KubeObject> = {
    'nodes/n1': nodeNamed('n1', { ready: 'True' }),
    'storageclasses/fast': classNamed('fast'),
    'volumes/a': volumeNamed('a', { phase: 'Available', ...away }),
    'volumes/b': volumeNamed('b', { phase: 'Available', ...away }),
    'volumes/class': {
      ...volumeNamed('class', { phase: 'Failed', ...ready('False', 'CreationError', 'no class') }),
      spec: { ...volumeNamed('class').spec, storageClassName: 'none' },
    } as KubeObject,
    'persistentvolumeclaims/data': claimNamed('data'),
    'pods/ended': { ...podNamed('ended', 'db'), status: { phase: 'Succeeded' } } as KubeObject,
  };
  const why = (...more: string[]) => stowage(['why', '--all', ...more], { objects });

  test('names each cause once, with its objects and its fix, and fails', async () => {
    const { code, out, err } = await why();
    expect(code).toBe(5);
    expect(err).toContain('4 objects are blocked, by 3 causes');
    expect(out.match(/^Cause: +.*$/gm)).toEqual([
      'Cause:       NodeUnreachable (Node n1)',
      'Cause:       NoFreeVolume (PersistentVolumeClaim test/data)',
      'Cause:       StorageClassMissing (Volume class)',
    ]);
    expect(out).toMatch(/Objects: +Volume a\n +Volume b\n/);
    expect(out).toContain('stowage check node n1');
  });

  test('retries no single Volume of a group', async () => {
    const { out } = await why();
    expect(out).toContain('stowage retry volume NAME retries one at once');
    expect(out).not.toMatch(/stowage retry volume [ab]$/m);
    const alone = await stowage(['why', 'volume', 'a'], { objects });
    expect(alone.out).toMatch(/^ +stowage retry volume a$/m);
  });

  test('names one cause for all Volumes that no daemon has observed', async () => {
    const { spec, ...rest } = volumeNamed('b');
    const { out } = await stowage(['why', '--all'], {
      objects: { 'volumes/a': volumeNamed('a'), 'volumes/b': { ...rest, spec } as KubeObject },
    });
    expect(out.match(/^Cause: +.*$/gm)).toEqual(['Cause:       NotTakenUp (Volume a)']);
    expect(out).toMatch(/Objects: +Volume a\n +Volume b\n/);
  });

  test('prints each cause with its objects as JSON', async () => {
    const { out } = await why('-o', 'json');
    const data = JSON.parse(out);
    expectSchema('held', data);
    expect(data.groups[0]).toMatchObject({
      cause: 'NodeUnreachable',
      root: { kind: 'Node', name: 'n1' },
      objects: [
        { kind: 'Volume', name: 'a', phase: 'Available' },
        { kind: 'Volume', name: 'b', phase: 'Available' },
      ],
    });
  });

  test('lists each kind once, for any number of objects', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `volumes/v${index}`,
        volumeNamed(`v${index}`, { phase: 'Available', ...away }),
      ]),
    );
    const { requests } = await stowage(['why', '--all'], { objects: { ...objects, ...many } });
    const lists = requests.map(({ what, options }) => `${what} ${JSON.stringify(options)}`);
    expect(lists.length).toBe(new Set(lists).size);
    expect(lists.length).toBeLessThan(15);
    expect(lists.filter((each) => each.startsWith('get'))).toEqual([]);
  });

  test('has the fix of the Volume itself for one on a missing node', async () => {
    const lost = volumeNamed('a', {
      phase: 'Pending',
      job: 'PrepareVolume/1',
      ...ready('Unknown', 'NodeUnreachable', 'node n1 is unreachable'),
    });
    const held = { objects: { 'volumes/a': lost, 'storageclasses/fast': classNamed('fast') } };
    const fix = /^Fix: +Create the Volume again on an existing node/m;
    for (const what of ['--all', 'volume/a'])
      expect((await stowage(['why', what], held)).out).toMatch(fix);
    const data = volumeNamed('b', { ...lost.status, phase: 'Available' });
    const { out } = await stowage(['why', '--all'], {
      objects: { ...held.objects, 'volumes/b': data },
    });
    expect(out.match(/^Cause: +.*$/gm)).toHaveLength(2);
  });

  test('names the failing expansion of a Volume for its claim', async () => {
    const grows = volumeNamed('a', {
      phase: 'Available',
      ...{ job: 'GrowVolume/3', attempt: 3 },
      ...ready('True', 'Available', 'expanding to 2Gi: attempt 2: no permission'),
    });
    const data = claimNamed('data');
    const claim = {
      ...data,
      spec: { ...data.spec, volumeName: 'a' },
      status: { phase: 'Bound' },
    } as KubeObject;
    const { out } = await stowage(['why', 'pvc/test/data'], {
      objects: {
        'volumes/a': grows,
        'persistentvolumes/a': pvOf(grows, 'Bound'),
        'persistentvolumeclaims/data': claim,
      },
    });
    expect(out).toContain('its Volume a: its device is Available and usable, but not expanded');
    expect(out).toContain('no permission');
  });

  test('lists Leftovers, which an uninstall waits for', async () => {
    const leftover = {
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Leftover',
      metadata: { name: UID, creationTimestamp: '2029-12-31T19:00:00Z' },
      spec: { volumeName: 'data2', uid: UID, nodeName: 'n9', storageClassName: 'fast' },
      status: ready('Unknown', 'NodeUnreachable', 'node n9 is unreachable'),
    } as KubeObject;
    const { code, out } = await stowage(['why', '--all'], {
      objects: { [`leftovers/${UID}`]: leftover },
    });
    expect(code).toBe(5);
    expect(out).toMatch(/^Cause: +NodeMissing \(Node n9\)$/m);
    expect(out).toContain('what Volume data2 left on node n9 is not removed yet');
    expect(out).toContain(`kubectl delete leftover ${UID}\n`);
  });

  test('exits with 0 if nothing is held up', async () => {
    const { code, out, err } = await stowage(['why', '--all'], { objects: {} });
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'nothing is held up\n' });
    expect((await stowage(['why', '--all', '-n', 'prod'], { objects: {} })).err).toBe(
      'nothing is held up in namespace prod\n',
    );
  });

  test('notes kinds that may not be read, and continues', async () => {
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 403 } as const;
    const denied = new ApiError({ ...status, message: 'pods are forbidden' }, 403, 'list pods');
    const { code, out, err } = await stowage(['why', '--all'], {
      objects,
      failures: { 'list pods/*': denied },
    });
    expect(code).toBe(5);
    expect(err).toContain('note: not checked: pods are forbidden');
    expect(out).toContain('NodeUnreachable (Node n1)');
  });

  test('exits with 4 if a kind may not be listed, though nothing is held up', async () => {
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 403 } as const;
    const denied = new ApiError({ ...status, message: 'forbidden' }, 403, 'list');
    const { code, err } = await stowage(['why', '--all'], {
      objects: {},
      failures: { 'list pods/*': denied },
    });
    expect(code).toBe(4);
    expect(err).not.toContain('nothing is held up');
    expect(err).toContain('other objects may be blocked as well: you may not list pods');
  });

  test('reads an object once if its kind may not be listed', async () => {
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 403 } as const;
    const denied = new ApiError({ ...status, message: 'forbidden' }, 403, 'list nodes');
    const { requests } = await stowage(['why', '--all'], {
      objects,
      failures: { 'list nodes/*': denied },
    });
    expect(requests.filter(({ what }) => what === 'get nodes/n1')).toHaveLength(1);
  });

  test('-n lists only objects of that namespace', async () => {
    const { out } = await why('-n', 'test');
    expect(out.match(/^Cause: +.*$/gm)).toEqual([
      'Cause:       NoFreeVolume (PersistentVolumeClaim test/data)',
    ]);
  });

  test('names one cause for a claim and its pod that no node fits', async () => {
    const waiting = {
      ...classNamed('waits'),
      provisioner: DRIVER,
      volumeBindingMode: 'WaitForFirstConsumer',
    };
    const { metadata, ...claim } = claimNamed('data');
    const spec = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] };
    const { out } = await stowage(['why', '--all'], {
      objects: {
        'storageclasses/waits': waiting as KubeObject,
        'persistentvolumeclaims/data': {
          ...claim,
          metadata,
          spec: { ...claim.spec, storageClassName: 'waits' },
        } as KubeObject,
        'pods/p': {
          ...podNamed('p', 'test', spec as never),
          status: { conditions: [unscheduled] },
        } as unknown as KubeObject,
      },
    });
    expect(out.match(/^Cause: +.*$/gm)).toEqual([
      'Cause:       NoRoom (PersistentVolumeClaim test/data)',
    ]);
  });

  test('names the cause that a claim of a missing class and its pod name, too', async () => {
    const spec = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] };
    const objects: Record<string, KubeObject> = {
      'persistentvolumeclaims/data': claimNamed('data', { storageClassName: 'gone' }),
      'pods/p': {
        ...podNamed('p', 'test', spec as never),
        status: { conditions: [unscheduled] },
      } as unknown as KubeObject,
    };
    const FIX = { run: ['stowage create storageclass gone --dynamic'] };
    for (const what of ['pvc/test/data', 'pod/test/p']) {
      const { out } = await stowage(['why', what, '-o', 'json'], { objects });
      expect(JSON.parse(out)).toMatchObject({ cause: 'StorageClassMissing', fix: FIX });
    }
    const { out } = await stowage(['why', '--all', '-o', 'json'], { objects });
    expect(JSON.parse(out).groups).toMatchObject([
      {
        cause: 'StorageClassMissing',
        fix: FIX,
        root: { kind: 'PersistentVolumeClaim', name: 'data' },
        objects: [{ name: 'data' }, { name: 'p' }],
      },
    ]);
    const { out: described } = await stowage(['describe', 'pod', 'test/p'], { objects });
    expect(described).toMatch(/^Blocked by: +StorageClassMissing: .*its storage class gone/m);
  });

  test.each([[['volume', 'a']], [['volume/a']]])('refuses an object: %j', async (names) => {
    const { code, err } = await why(...names);
    expect(code).toBe(2);
    expect(err).toContain('--all takes no object');
  });
});
