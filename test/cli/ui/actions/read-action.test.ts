import { describe, expect, test } from '@jest/globals';
import { commandText, readAction } from '../../../../src/cli/ui/actions/read-action.ts';
import { ACTIONS } from '../../../../src/cli/ui/actions/table.ts';
import type { ActionName } from '../../../../src/ui/protocol.ts';

const SPARSE = {
  ...{ action: 'createVolume', name: 'data1', node: 'n1', type: 'sparse', size: '10Gi' },
  storageClass: 'local',
};
const RAW = {
  ...{ action: 'createVolume', name: 'data1', node: 'n1', type: 'raw', storageClass: 'local' },
  device: '/dev/disk/by-id/wwn-0x5',
};
const END = ['--output', 'json', '--'];

describe('an action becomes arguments', () => {
  test.each<[object, string[], string]>([
    [
      SPARSE,
      [
        ...['create', 'volume', '--node', 'n1', '--type', 'sparse', '--size', '10Gi'],
        ...['--storage-class', 'local', '--wait', ...END, 'data1'],
      ],
      'stowage create volume data1 --node n1 --type sparse --size 10Gi --storage-class local --wait --context prod',
    ],
    [
      {
        ...{ ...RAW, overwrite: 'ext4:aa-bb', mode: 'Block', attachPolicy: 'OnDemand' },
        onDelete: 'Wipe',
      },
      [
        ...['create', 'volume', '--node', 'n1', '--type', 'raw'],
        ...['--device', '/dev/disk/by-id/wwn-0x5', '--overwrite', 'ext4:aa-bb'],
        ...['--storage-class', 'local', '--mode', 'Block', '--on-delete', 'Wipe'],
        ...['--attach-policy', 'OnDemand', '--wait', ...END, 'data1'],
      ],
      "stowage create volume data1 --node n1 --type raw --device /dev/disk/by-id/wwn-0x5 --overwrite 'ext4:aa-bb' --storage-class local --mode Block --on-delete Wipe --attach-policy OnDemand --wait --context prod",
    ],
    [
      {
        ...{ ...SPARSE, type: 'lvm', size: '1Gi', group: 'vg0', thinPool: 'pool' },
      },
      [
        ...['create', 'volume', '--node', 'n1', '--type', 'lvm', '--size', '1Gi', '--vg', 'vg0'],
        ...['--thin-pool', 'pool', '--storage-class', 'local', '--wait', ...END, 'data1'],
      ],
      'stowage create volume data1 --node n1 --type lvm --size 1Gi --vg vg0 --thin-pool pool --storage-class local --wait --context prod',
    ],
    [
      { action: 'deleteVolume', name: 'data1' },
      ['delete', 'volume', '--wait', ...END, 'data1'],
      'stowage delete volume data1 --wait --context prod',
    ],
    [
      { action: 'retryVolume', name: 'data1' },
      ['retry', 'volume', ...END, 'data1'],
      'stowage retry volume data1 --context prod',
    ],
    [
      { action: 'resizeVolume', name: 'data1', size: '2Gi' },
      ['resize', 'volume', '--wait', ...END, 'data1', '2Gi'],
      'stowage resize volume data1 2Gi --wait --context prod',
    ],
    ...(['pause', 'resume'] as const).flatMap((verb) =>
      (['Volume', 'Node'] as const).map((kind): [object, string[], string] => [
        { action: `${verb}${kind}`, name: 'a' },
        [verb, kind.toLowerCase(), ...END, 'a'],
        `stowage ${verb} ${kind.toLowerCase()} a --context prod`,
      ]),
    ),
    [
      { action: 'detachVolume', name: 'data1', node: 'n1' },
      ['detach', 'volume', '--node', 'n1', ...END, 'data1'],
      'stowage detach volume data1 --node n1 --context prod',
    ],
    [
      { action: 'detachVolume', name: 'data1', node: 'n1', force: true },
      ['detach', 'volume', '--node', 'n1', '--force', ...END, 'data1'],
      'stowage detach volume data1 --node n1 --force --context prod',
    ],
    [
      { action: 'createSnapshot', snapshot: 'prod/s1', claim: 'foo', class: 'c' },
      ['create', 'snapshot', '--pvc', 'foo', '--class', 'c', '--wait', ...END, 'prod/s1'],
      'stowage create snapshot prod/s1 --pvc foo --class c --wait --context prod',
    ],
    [
      {
        action: 'restoreSnapshot',
        snapshot: 'prod/s1',
        to: 'test/foo',
        size: '2Gi',
        mode: 'Block',
      },
      [
        'restore',
        'snapshot',
        '--to',
        'test/foo',
        '--size',
        '2Gi',
        '--mode',
        'Block',
        ...END,
        'prod/s1',
      ],
      'stowage restore snapshot prod/s1 --to test/foo --size 2Gi --mode Block --context prod',
    ],
    [
      { action: 'grantSnapshot', snapshot: 'prod/*', to: 'test', for: 'claims' },
      ['grant', 'snapshot', '--to', 'test', '--for', 'claims', ...END, 'prod/*'],
      "stowage grant snapshot 'prod/*' --to test --for claims --context prod",
    ],
    [
      { action: 'revokeGrant', grant: 'prod/s1-to-test' },
      ['revoke', 'grant', ...END, 'prod/s1-to-test'],
      'stowage revoke grant prod/s1-to-test --context prod',
    ],
  ])('%j', (body, argv, text) => {
    const read = readAction(body);
    if ('problem' in read) throw new Error(read.problem);
    expect(read.argv).toEqual(argv);
    expect(commandText(read.command, { context: 'prod' })).toBe(text);
  });

  test('every action has a row here', () => {
    expect(Object.keys(ACTIONS)).toHaveLength(13);
  });
});

/** A valid body of each action. */
const VALID: Record<ActionName, Record<string, string>> = {
  createVolume: {
    ...{ name: 'data1', node: 'n1', type: 'raw', size: '1Gi', device: '/dev/sdb', group: 'vg0' },
    ...{ thinPool: 'pool', overwrite: 'ext4', storageClass: 'c', mode: 'Block' },
    ...{ attachPolicy: 'Always', onDelete: 'Retain' },
  },
  deleteVolume: { name: 'data1' },
  resizeVolume: { name: 'data1', size: '1Gi' },
  retryVolume: { name: 'data1' },
  pauseVolume: { name: 'data1' },
  resumeVolume: { name: 'data1' },
  pauseNode: { name: 'n1' },
  resumeNode: { name: 'n1' },
  detachVolume: { name: 'data1', node: 'n1' },
  createSnapshot: { snapshot: 'a/b', claim: 'c', class: 'd' },
  restoreSnapshot: { snapshot: 'a/b', to: 'c/d', size: '1Gi', storageClass: 'e', mode: 'Block' },
  grantSnapshot: { snapshot: 'a/b', to: 'c', for: 'links' },
  revokeGrant: { grant: 'a/b' },
};

const HOSTILE: unknown[] = [
  ...['-o', '--yes', '--', '-', 'data1\n--yes', 'data1\r', '\u0000', 'data1 --yes', ' data1'],
  ...['\u202edata1', 'dätä', '数据', 'a/b/c', '../a', '/', '*', "'; rm -rf /", '$(id)', '`id`'],
  ...['x'.repeat(300), 'x'.repeat(2000), ['data1'], { name: 'data1' }, 1, false, null, ''],
  ...[['--yes'], true],
];

describe.each(Object.entries(VALID))('the action %s', (action, fields) => {
  test('the fields are valid', () => {
    expect(readAction({ action, ...fields })).toMatchObject({ action, fields });
  });

  test.each(Object.keys(fields))('the field %s takes no hostile value', (field) => {
    for (const value of HOSTILE) {
      const read = readAction({ action, ...fields, [field]: value });
      // Content is named by nodes, and sizes by quantities: both have marks, but no dash in front.
      if (field === 'overwrite' && !('problem' in read)) {
        expect(String(value)).toMatch(/^[\x21-\x2c\x2e-\x7e][\x21-\x7e]*$/);
        continue;
      }
      // LVM takes upper case, dots and underscores, up to 127 characters.
      expect([value, read]).toEqual([value, expect.objectContaining({ field })]);
      expect((read as { problem: string }).problem).not.toContain('rm -rf');
    }
  });

  test.each(['yes', 'plan', 'confirm', 'constructor', '__proto__', 'kubeconfig', 'output'])(
    'there is no field %s',
    (field) => {
      const body = JSON.parse(
        JSON.stringify({ action, ...fields }).replace(/}$/, `,"${field}":"x"}`),
      );
      expect(readAction(body)).toEqual({ problem: 'The action has no such field' });
    },
  );
});

test('a plan and a confirmation are beside the fields of a run, and nowhere else', () => {
  const body = { action: 'deleteVolume', name: 'a', plan: 'p', confirm: 'a' };
  expect(readAction(body, ['plan', 'confirm'])).toMatchObject({ fields: { name: 'a' } });
  expect(readAction(body)).toHaveProperty('problem');
});

test.each([[{}], [{ action: 'x' }], [{ action: 'constructor' }], [{ action: ['deleteVolume'] }]])(
  '%j is no action',
  (body) => {
    expect(readAction(body)).toEqual({ problem: 'There is no such action' });
  },
);

test.each([
  ['force', 'true'],
  ['force', 'yes'],
  ['force', false],
  ['force', 1],
  ['force', ['true']],
])('the field %s is not ticked by %j', (field, value) => {
  const body = { action: 'detachVolume', name: 'a', node: 'n', [field]: value };
  expect(readAction(body)).toMatchObject({ field });
});

test.each([
  ['size', '0'],
  ['size', '-1Gi'],
  ['size', '10GiB'],
  ['device', 'dev/sdb'],
  ['device', '/dev/../etc/shadow'],
  ['device', '/dev/sdb\n/dev/sdc'],
  ['device', '/dev/\u202esdb'],
  ['device', `/dev/${'x'.repeat(1100)}`],
  ['overwrite', '-x'],
  ['overwrite', 'ext4:a b'],
  ['type', 'Sparse'],
])('the field %s does not take %j', (field, value) => {
  expect(readAction({ ...SPARSE, [field]: value })).toMatchObject({ field });
});

test.each([
  [{ action: 'restoreSnapshot', snapshot: 's1', to: 'a/b' }, 'snapshot'],
  [{ action: 'restoreSnapshot', snapshot: 'a/*', to: 'a/b' }, 'snapshot'],
  [{ action: 'restoreSnapshot', snapshot: 'a/s1', to: 'b' }, 'to'],
  [{ action: 'grantSnapshot', snapshot: '*', to: 'b' }, 'snapshot'],
  [{ action: 'grantSnapshot', snapshot: 'A/*', to: 'b' }, 'snapshot'],
])('%j lacks a namespace', (body, field) => {
  expect(readAction(body)).toMatchObject({ field });
});

test.each<[string, object, RegExp | undefined]>([
  [
    'a detachment by force',
    { action: 'detachVolume', name: 'a', node: 'n1', force: true },
    /also removes the attachment/,
  ],
  ['another detachment', { action: 'detachVolume', name: 'a', node: 'n1' }, undefined],
  [
    'a restore into another namespace',
    { action: 'restoreSnapshot', snapshot: 'db/a', to: 'web/b' },
    /VolumeSnapshotLink/,
  ],
  [
    'a restore into the same namespace',
    { action: 'restoreSnapshot', snapshot: 'db/a', to: 'db/b' },
    undefined,
  ],
])('names what follows the first write of %s', (_what, body, expected) => {
  const read = readAction(body);
  const further = 'command' in read ? read.command.further : 'a problem';
  if (expected === undefined) expect(further).toBeUndefined();
  else expect(further).toMatch(expected);
});
