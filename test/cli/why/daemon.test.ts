import { describe, expect, test } from '@jest/globals';
import type { Deployment, Lease } from '../../../src/api/core.ts';
import type { Leader } from '../../../src/api/leader.ts';
import { besideDaemons, controllerOff, daemonAbsent } from '../../../src/cli/why/daemon.ts';
import type { Reason } from '../../../src/cli/why/reasons.ts';
import type { Blocker } from '../../../src/cli/why/types.ts';
import { ago, NOW } from '../../support/cluster-objects.ts';
import { stowage } from '../../support/fake-io.ts';
import { leadingLease } from '../../support/leading-lease.ts';
import { volumeNamed } from '../../support/volumes.ts';

const lease = (name: string, renewed: number, holderIdentity = 'host-1'): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: 'stowage' },
  spec: { holderIdentity, renewTime: ago(renewed), leaseDurationSeconds: 15 },
});
const deployment = (replicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'stowage', namespace: 'stowage' },
  spec: { replicas },
});
const held = (cause: Reason, since = 600): Blocker => ({
  cause,
  holdup: 'so it was',
  since: ago(since),
});

const judged = (
  leases: Lease[],
  { instead = held('NotTakenUp'), node = 'n1', deployments = [] as Deployment[] } = {},
) =>
  daemonAbsent(
    { leases: { found: leases }, deployments: { found: deployments } },
    instead,
    node,
    NOW,
  );

describe('why reports an absent daemon', () => {
  test.each<[string, Lease[], string]>([
    [
      'that no longer renews its Lease',
      [lease('stowage', 60)],
      'host-1 holds the Lease stowage/stowage',
    ],
    [
      'that released its Lease',
      [lease('stowage', 60, '')],
      'the Lease stowage/stowage was released',
    ],
    [
      'that held the newest of several Leases',
      [lease('stowage-n1', 60), lease('stowage', 90)],
      'stowage/stowage-n1',
    ],
    [
      'of its node, while a daemon of another node leads',
      [lease('stowage-n1', 60), lease('stowage-n10', 1)],
      'stowage/stowage-n1,',
    ],
  ])('%s', (_, leases, text) => {
    expect(judged(leases)).toMatchObject({
      cause: 'DaemonAbsent',
      holdup: expect.stringMatching(
        new RegExp(`^no daemon leads: .*${text}.*; previous blocker: so it was$`),
      ),
      since: ago(60),
      next: { when: 'as soon as a daemon leads' },
      fix: { run: ['stowage watch'] },
    });
  });
});

describe('a disabled controller', () => {
  const off = (
    controllers: Leader['controllers'],
    kind = 'PersistentVolumeClaim',
    cause: Reason = 'NotTakenUp',
  ) =>
    controllerOff(
      {
        leases: { found: [leadingLease(NOW, { controllers })] },
        deployments: { found: [deployment(1)] },
      },
      held(cause),
      kind,
      NOW,
    );

  test.each<[string, Leader['controllers']]>([
    ['Volume', ['claim']],
    ['PersistentVolumeClaim', ['volume']],
    ['VolumeSnapshot', ['volume', 'claim']],
  ])('is reported for a %s', (kind, controllers) => {
    expect(off(controllers, kind)).toMatchObject({
      cause: 'ControllerOff',
      holdup: expect.stringMatching(
        /^the daemon that leads runs without the controller (volume|claim|snapshot)$/,
      ),
      fix: { daemonFlags: ['--controllers', '*'] },
    });
  });

  test('is reported for a claim that a populator fills', () => {
    const daemons = { leases: { found: [leadingLease(NOW, { controllers: ['claim'] })] } };
    const blocker = { ...held('NotTakenUp'), controller: 'populator' } as const;
    const kind = 'PersistentVolumeClaim';
    expect(
      controllerOff({ ...daemons, deployments: { found: [] } }, blocker, kind, NOW),
    ).toMatchObject({
      holdup: 'the daemon that leads runs without the controller populator',
    });
  });

  test.each([
    ['if it runs', off(['claim'])],
    [
      'for an object that was already processed',
      off(['volume'], 'PersistentVolumeClaim', 'RetryWaiting'),
    ],
    ['for an object of another kind', off(['volume'], 'Pod')],
    [
      'if the Lease does not list the controllers',
      controllerOff(
        { leases: { found: [leadingLease(NOW, null)] }, deployments: { found: [] } },
        held('NotTakenUp'),
        'Volume',
        NOW,
      ),
    ],
  ])('is not reported %s', (_, found) => {
    expect(found).toBeUndefined();
  });
});

describe('why does not report a daemon as absent', () => {
  test.each<[string, Lease[], Partial<{ instead: Blocker; node: string }>]>([
    ['that leads', [lease('stowage', 10)], {}],
    ['that leads, beside one that stopped', [lease('stowage', 600), lease('stowage-n1', 1)], {}],
    ['that leads for several nodes', [lease('stowage', 600), lease('stowage-n0-n1', 1)], {}],
    [
      'that leads for many nodes',
      [lease('stowage', 600), lease(`stowage-${'a'.repeat(64)}`, 1)],
      {},
    ],
    ['of another component', [lease('other', 600)], {}],
    ['of another node', [lease('stowage-n2', 600)], {}],
    ['that never had a Lease', [], {}],
    [
      'that wrote a status after its Lease expired',
      [lease('stowage', 600)],
      { instead: held('NodeUnreachable', 60) },
    ],
  ])('%s', (_, leases, more) => {
    expect(judged(leases, more)).toBeUndefined();
  });
});

test.each<[string, Deployment, string[]]>([
  [
    'is scaled to zero',
    deployment(0),
    ['kubectl -n stowage scale deployment/stowage --replicas 1'],
  ],
  [
    'has no ready pods',
    deployment(1),
    [
      'kubectl -n stowage describe pods -l app.kubernetes.io/name=stowage',
      'kubectl -n stowage logs deployment/stowage',
    ],
  ],
])('explains an installed daemon that %s', (_, each, run) => {
  expect(judged([lease('stowage', 60)], { deployments: [each] })?.fix?.run).toEqual(run);
});

/** A Volume that waits for a daemon, one that waits for none, and no daemon. */
const WAITING = {
  'volumes/a': volumeNamed('a'),
  'volumes/b': volumeNamed('b', {
    phase: 'Failed',
    conditions: [{ type: 'Ready', status: 'False', reason: 'CreationError', message: 'x' }],
  }),
  'leases/stowage': lease('stowage', 60),
} as never;

test('reports an absent daemon only for what waits for one', async () => {
  const cause = async (name: string) =>
    JSON.parse((await stowage(['why', 'volume', name, '-o', 'json'], { objects: WAITING })).out)
      .cause;
  expect(await cause('a')).toBe('DaemonAbsent');
  expect(await cause('b')).toBe('StorageClassMissing');
});

test('does not change the next attempt of what waits for no daemon', async () => {
  const why = async (...names: string[]) =>
    JSON.parse((await stowage(['why', ...names, '-o', 'json'], { objects: WAITING })).out);
  const { next } = await why('volume', 'b');
  expect((await why('volume', 'a', 'b')).items).toMatchObject([
    { cause: 'DaemonAbsent' },
    { next },
  ]);
  expect((await why('--all')).groups).toContainEqual(
    expect.objectContaining({ cause: 'StorageClassMissing', next }),
  );
});

test('notes that two daemons lead at once', async () => {
  const leases = (second: string) =>
    ({
      'volumes/a': volumeNamed('a'),
      'leases/stowage': lease('stowage', 1),
      'leases/other': { ...lease('stowage', 1), metadata: { name: 'stowage', namespace: second } },
    }) as never;
  const said = async (second: string) =>
    (await stowage(['why', 'volume', 'a'], { objects: leases(second) })).err;
  expect(await said('default')).toBe(
    'note: 2 daemons lead at once, with the Leases stowage/stowage and default/stowage: stop all but one\n',
  );
});

describe('an explanation, given the daemons of the cluster', () => {
  /** A Deployment that any user with access to a namespace can create. */
  const installed: Deployment = {
    ...deployment(1),
    metadata: { name: 'stowage', namespace: 'tenant' },
  };
  const daemonsWith = (leases: Lease[], deployments: Deployment[] = []) => ({
    leases: { found: leases },
    deployments: { found: deployments },
  });
  const gateOff: Blocker = {
    ...held('GateOff'),
    fix: {
      say: 'Have the daemon run with this gate on.',
      daemonFlags: ['--feature-gates', 'A=true'],
    },
  };
  const leads = leadingLease(NOW, { controllers: ['claim'] });

  test('changes an installed daemon by install, without values of its Deployment', () => {
    const found = besideDaemons(daemonsWith([leads], [installed]), gateOff, { kind: 'Pod' }, NOW);
    expect(found.fix).toEqual({
      say: 'Have the daemon run with this gate on. If its Deployment tenant/stowage is yours, install it again with its namespace and image:',
      run: ["stowage install -n NAMESPACE --image IMAGE --feature-gates 'A=true'"],
    });
  });

  test('stops the other daemon before it runs one with the flag', () => {
    const found = besideDaemons(daemonsWith([leads]), gateOff, { kind: 'Pod' }, NOW);
    expect(found.fix).toEqual({
      say: expect.stringContaining('Stop the daemon that leads, then run it'),
      run: ["stowage watch --feature-gates 'A=true'"],
    });
  });

  test('names the disabled controller of the last object in the chain', () => {
    const blocker = { ...held('NotTakenUp'), chain: [{ kind: 'Volume', name: 'a' }] };
    const found = besideDaemons(daemonsWith([leads], [installed]), blocker, { kind: 'Pod' }, NOW);
    expect(found).toMatchObject({
      cause: 'ControllerOff',
      holdup: 'the daemon that leads runs without the controller volume',
      fix: {
        run: ["stowage install -n NAMESPACE --image IMAGE --controllers '*'"],
      },
    });
  });

  test('expects no retry until a daemon leads', () => {
    const found = besideDaemons(
      daemonsWith([lease('stowage', 600)]),
      { ...held('GrantMissing'), next: { when: 'at once' } },
      { kind: 'PersistentVolumeClaim' },
      NOW,
    );
    expect(found).toMatchObject({
      cause: 'GrantMissing',
      next: { when: 'once a daemon leads: none does now (stowage check cluster)' },
    });
  });
});
