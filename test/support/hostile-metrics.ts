import type { VolumeSnapshotContent } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Informer } from '../../src/kube/informer.ts';
import type { Metrics } from '../../src/manager/metrics/metrics.ts';
import { freshNode, volume } from './volume-input.ts';

/**
 * Texts that a user can write into a Volume's nodeName, its directory, or the name of a transport.
 */
export const HOSTILE = [
  'n1',
  '',
  'a"b',
  'a\\',
  'a\\"',
  '\\n',
  'a\nb',
  'a\n# TYPE stowage_volumes counter\nstowage_volumes 7',
  '"} 1\nx{y="',
  'a\r\tb\u0000\u001b[31m',
  '{node="x"}',
  'ü€😀\u2028',
  '\ud800',
  '\udfff',
  'x'.repeat(2000),
];

/** Adds a provisioned and observed Volume for each text. */
export function showHostileVolumes(metrics: Metrics): void {
  const volumes = HOSTILE.map((text, index): Volume => {
    const made = volume(
      {
        capacity: '1Gi',
        phase: text as never,
        prepared: { node: text, paths: [`/${text}/f`], identity: '' },
      },
      { uid: `uid-${index}`, name: text },
    );
    return { ...made, spec: { ...made.spec, nodeName: text } };
  });
  const informer: Pick<Informer<Volume>, 'list' | 'get' | 'onChange'> = {
    list: () => volumes,
    get: (name) => volumes.find(({ metadata }) => metadata.name === name),
    onChange() {},
  };
  const onObserved = metrics.addVolumes(informer as Informer<Volume>);
  for (const each of volumes) {
    const node = each.spec.nodeName;
    onObserved(each, node, { ...freshNode, space: { ...freshNode.space, directory: `/${node}` } });
    metrics.onJobEnd({ node, key: { subject: 'u', id: node }, result: 'failed', ms: 1 });
  }
}

/** Reports successful and failed claims and snapshots of each class. */
export function showHostileClaims(metrics: Metrics): void {
  for (const name of HOSTILE) {
    for (const source of ['none', 'snapshot', 'claim', 'link'] as const) {
      const claim = { storageClass: name, source, crossNamespace: source !== 'none' };
      metrics.claims.onProvisioned(claim);
      metrics.claims.onProvisioned({ ...claim, ms: 12 });
    }
    const operation = { operation: 'create', snapshotClass: name, ms: 12 } as const;
    metrics.snapshots.onOperation({ ...operation, succeeded: true });
    metrics.snapshots.onOperation({ ...operation, succeeded: false });
  }
  const contents = HOSTILE.map((name) => content({}, name));
  metrics.snapshots.add({ list: () => contents } as Informer<VolumeSnapshotContent>);
}

const content = (status: VolumeSnapshotContent['status'], name: string): VolumeSnapshotContent => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name: 'content' },
  spec: {
    volumeSnapshotRef: {},
    deletionPolicy: 'Delete',
    driver: 'volume.stowage.dev',
    source: { volumeHandle: 'data' },
    volumeSnapshotClassName: name,
  },
  ...(status && { status }),
});
