import { describe, expect, test } from '@jest/globals';
import type { Deployment, Lease, StorageClass } from '../../../src/api/core.ts';
import { classChecks } from '../../../src/cli/check-cluster/classes.ts';
import { daemonChecks } from '../../../src/cli/check-cluster/daemon.ts';
import { definitionChecks } from '../../../src/cli/check-cluster/definitions.ts';
import type { CrdSkew } from '../../../src/cli/lib/objects/crd-skew.ts';
import { leadingLease } from '../../support/leading-lease.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');

const lease = (name: string, namespace: string, ago: number, holder = 'host_1'): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
  spec: {
    holderIdentity: holder,
    leaseDurationSeconds: 15,
    renewTime: new Date(NOW - ago * 1000).toISOString().replace('Z', '000Z'),
  },
});
const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'stowage', namespace: 'storage' },
  spec: { replicas: 2 },
};

describe('check cluster reports on a daemon that', () => {
  test.each<[string, Lease[], Deployment[], [boolean, string][]]>([
    [
      'leads',
      [lease('stowage', 'stowage', 2), lease('n1', 'kube-node-lease', 1)],
      [deployment],
      [[true, 'host_1 leads, with the Lease stowage/stowage']],
    ],
    [
      'leads, with its version and settings',
      [leadingLease(NOW)],
      [deployment],
      [
        [
          true,
          'host_1 leads, with the Lease default/stowage: version 0.1.0, nodes over ssh, all controllers, without CrossNamespaceVolumeDataSource',
        ],
      ],
    ],
    [
      'leads on some nodes only',
      [lease('stowage-n1', 'default', 2)],
      [],
      [[true, 'host_1 leads, with the Lease default/stowage-n1']],
    ],
    [
      'has died, and pods are not ready',
      [lease('stowage', 'stowage', 21)],
      [deployment],
      [[false, 'no daemon leads: 0 of 2 pods of the Deployment storage/stowage are ready']],
    ],
    [
      'has released its Lease',
      [lease('stowage', 'stowage', 1, '')],
      [],
      [[false, 'no daemon leads, and none is installed']],
    ],
    ['was never installed', [], [], [[false, 'no daemon leads, and none is installed']]],
    [
      'leads in two namespaces',
      [lease('stowage', 'a', 1), lease('stowage', 'b', 1, 'host_2')],
      [],
      [
        [true, 'host_1 leads, with the Lease a/stowage'],
        [true, 'host_2 leads, with the Lease b/stowage'],
        [false, '2 daemons lead at once, with Leases in the namespaces a, b'],
      ],
    ],
  ])('%s', (_, leases, deployments, expected) => {
    const checks = daemonChecks(leases, deployments, NOW);
    expect(checks.map(({ ok, message }) => [ok, message])).toEqual(expected);
    expect(checks.filter(({ ok, hint }) => !ok && hint === undefined)).toEqual([]);
  });
});

describe('check cluster reports on storage classes', () => {
  const storageClass = (parts: Partial<StorageClass>): StorageClass => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...parts,
  });
  test.each<[string, StorageClass[], boolean, string]>([
    ['a valid class', [storageClass({})], true, 'local, with ext4'],
    ['no class', [], false, 'there is none for Volumes'],
    [
      'classes of other provisioners only',
      [storageClass({ provisioner: 'x' })],
      false,
      'there is none for Volumes',
    ],
    [
      'an unsupported file system',
      [storageClass({ parameters: { fsType: 'btrfs' } })],
      false,
      'local: no file system can be created: unsupported filesystem: btrfs',
    ],
    [
      'immediate binding',
      [storageClass({ volumeBindingMode: 'Immediate' })],
      false,
      'local: with volumeBindingMode Immediate',
    ],
    [
      'an invalid max-wait-for-unmount',
      [
        storageClass({
          metadata: { name: 'local', annotations: { 'stowage.dev/max-wait-for-unmount': '10min' } },
        }),
      ],
      false,
      'StorageClass local: annotation stowage.dev/max-wait-for-unmount is "10min", but must be a duration',
    ],
    [
      'a dynamic class alone, with immediate binding',
      [storageClass({ provisioner: 'volume.stowage.dev', volumeBindingMode: 'Immediate' })],
      true,
      'local, with ext4',
    ],
    [
      'a dynamic class in a system directory',
      [storageClass({ provisioner: 'volume.stowage.dev', parameters: { directory: '/etc' } })],
      false,
      'no volume can be provisioned for claims of storage class local: parameter directory is "/etc"',
    ],
    [
      'a dynamic class with an unsupported file system',
      [storageClass({ provisioner: 'volume.stowage.dev', parameters: { fsType: 'btrfs' } })],
      false,
      'unsupported filesystem: btrfs',
    ],
  ])('%s', (_, classes, ok, message) => {
    expect(classChecks(classes)).toEqual([
      expect.objectContaining({ ok, message: expect.stringContaining(message) }),
    ]);
  });
});

test.each<[CrdSkew, boolean, string, string | undefined]>([
  [
    { name: 'v', skew: 'none', lacks: [], extra: [] },
    true,
    'v is the one of this version',
    undefined,
  ],
  [
    { name: 'v', skew: 'missing', lacks: [], extra: [] },
    false,
    'v is missing',
    'stowage install --components crds',
  ],
  [
    { name: 'v', skew: 'older', lacks: ['spec.onDelete'], extra: [] },
    false,
    'v differs from the one of this version: it lacks spec.onDelete',
    'stowage install --components crds',
  ],
  [
    { name: 'v', skew: 'different', lacks: [], extra: [] },
    false,
    'v differs from the one of this version',
    'stowage install --components crds',
  ],
  [
    { name: 'v', skew: 'newer', lacks: [], extra: ['spec.x'] },
    false,
    'v has spec.x, which this version does not know',
    undefined,
  ],
  [{ name: 'v', skew: 'unknown' }, false, 'v is not checked: you may not read it', undefined],
])('check cluster reports the CRD skew %j', (skew, ok, message, command) => {
  const [check] = definitionChecks([skew]);
  expect(check).toMatchObject({ ok, message });
  expect(check?.command).toBe(command);
  expect(ok || check?.hint !== undefined).toBe(true);
});
