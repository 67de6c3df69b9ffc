import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../src/api/core.ts';
import { primeNameOf, primeOf } from '../../../src/controllers/populator/objects.ts';
import type { PopulatorInput } from '../../../src/controllers/populator/types.ts';
import { HELLO_DEFINITION, hello, helloReference } from '../../support/hello.ts';

export const UID = '11111111-1111-4111-8111-111111111111';
export const OWN = 'stowage';
export const FINALIZER = 'stowage.dev/populate-target-protection';
export const NOW = Date.parse('2026-11-22T12:00:00Z');

type Change<T> = { metadata?: object; spec?: object; status?: object } & Partial<
  Omit<T, 'metadata' | 'spec' | 'status'>
>;

const changed = <T extends { metadata: object; spec?: object; status?: object }>(
  object: T,
  change: object,
): T => {
  const { metadata, spec, status } = change as Change<T>;
  return {
    ...object,
    ...change,
    metadata: { ...object.metadata, ...metadata },
    spec: { ...object.spec, ...spec },
    ...((object.status ?? status) && { status: { ...object.status, ...status } }),
  };
};

export const claim = (change: Change<PersistentVolumeClaim> = {}): PersistentVolumeClaim =>
  changed(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'data',
        namespace: 'default',
        uid: UID,
        resourceVersion: '7',
        finalizers: [FINALIZER],
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        storageClassName: 'fast',
        resources: { requests: { storage: '1Gi' } },
        dataSourceRef: helloReference('example'),
      },
      status: { phase: 'Pending' },
    },
    change,
  );

/** Returns a prime claim that is bound to `pv`. */
export const prime = (change: Change<PersistentVolumeClaim> = {}): PersistentVolumeClaim => {
  const made = primeOf(claim(), OWN);
  return changed(
    {
      ...made,
      metadata: { ...made.metadata, uid: 'prime-uid', resourceVersion: '8' },
      spec: { ...made.spec, volumeName: 'pv' },
      status: { phase: 'Bound' },
    },
    change,
  );
};

export const annotated = (
  object: PersistentVolumeClaim,
  annotations: object,
): PersistentVolumeClaim => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});

export const pod = (phase: string, change: Change<Pod> = {}): Pod =>
  changed(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `populate-${UID}`,
        namespace: OWN,
        uid: 'pod-uid',
        annotations: { 'stowage.dev/populates': 'default/data' },
      },
      spec: {},
      status: { phase },
    },
    change,
  );

/** Returns the PersistentVolume of the prime claim. */
export const pv = (change: Change<PersistentVolume> = {}): PersistentVolume =>
  changed(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv', uid: 'pv-uid', resourceVersion: '9' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: OWN, name: primeNameOf(UID), uid: 'prime-uid' },
      },
      status: { phase: 'Bound' },
    },
    change,
  );

/** Returns the PersistentVolume after it was assigned to the claim. */
export const given = (policy = 'Delete'): PersistentVolume =>
  pv({
    metadata: { annotations: { 'stowage.dev/populated-from': 'default/example' } },
    spec: {
      persistentVolumeReclaimPolicy: policy,
      claimRef: { namespace: 'default', name: 'data', uid: UID },
    },
  });

export const storageClass = (change: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'fast' },
  provisioner: 'volume.stowage.dev',
  volumeBindingMode: 'Immediate',
  ...change,
});

export const definition = {
  ...HELLO_DEFINITION,
  metadata: { ...HELLO_DEFINITION.metadata, uid: 'definition-uid', generation: 1 },
};

export const found = {
  is: 'ready',
  object: {
    ...hello('example', 'default'),
    metadata: { name: 'example', uid: 'source-uid', generation: 1 },
  },
} as const;

/**
 * Returns the input for a claim with the finalizer, in an Immediate class, before any further
 * action.
 */
export const input = (change: Partial<PopulatorInput> = {}): PopulatorInput => ({
  uid: UID,
  claim: claim(),
  liveClaim: undefined,
  definitions: [definition],
  storageClass: storageClass(),
  prime: undefined,
  pod: undefined,
  pv: undefined,
  source: undefined,
  primeWarning: undefined,
  podWarning: undefined,
  vanished: undefined,
  running: { all: 0, own: 0 },
  lastEvent: undefined,
  namespace: OWN,
  user: 65532,
  tolerations: [],
  ...change,
});
