import fc from 'fast-check';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../src/api/core.ts';
import { parseDuration } from '../../src/api/duration.ts';
import { parseHandle } from '../../src/api/snapshot-handle.ts';
import type { Volume } from '../../src/api/volume.ts';
import { decideClaim } from '../../src/controllers/provisioner/decide-claim.ts';
import { checkClass } from '../../src/model/class-options.ts';
import { droppedSource } from '../../src/model/data-source/dropped-data-source.ts';
import { sourceReference } from '../../src/model/data-source/reference.ts';
import { desiredOf } from '../../src/model/desired-volume.ts';
import { dynamicClass } from '../../src/model/dynamic-class.ts';
import { addressOfNode, addressProblems, minionOfNode } from '../../src/model/node-address.ts';
import { validateVolume } from '../../src/model/validate-volume.ts';
import { input, node, pod } from '../controllers/provisioner/claim-input.ts';
import { storageClass, UID } from '../support/volume-input.ts';
import { annotations, anything, quantity, text, word } from './hostile.ts';
import { type Target, tame } from './target.ts';

const claim = fc.record({
  annotations,
  name: fc.oneof(word, fc.constantFrom('data', `prime-${UID}`)),
  spec: fc.record({
    accessModes: fc.array(fc.oneof(fc.constant('ReadWriteOnce'), word), { maxLength: 2 }),
    volumeMode: fc.constantFrom('Filesystem', 'Block', undefined),
    size: quantity,
    dataSource: fc.oneof(
      fc.constant(undefined),
      fc.record({ kind: word, name: word, apiGroup: word }),
    ),
  }),
  phase: fc.constantFrom('Pending', 'Bound', 'Lost', undefined),
  capacity: quantity,
});
const parameters = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'type',
      'directory',
      'vgName',
      'thinPool',
      'overcommit',
      'fsType',
      'mkfsOptions',
      'requireMount',
    ),
    word,
  ),
  fc.oneof(text, fc.constantFrom('lvm', 'sparse', '1', 'true', 'vg0', '/srv/x', '["-m","0"]')),
  { maxKeys: 5 },
);
const taint = fc.record({
  key: word,
  value: word,
  effect: fc.constantFrom('NoSchedule', 'NoExecute', 'x'),
});
const toleration = fc.record({
  key: word,
  operator: fc.constantFrom('Exists', 'Equal', ''),
  value: word,
  effect: word,
});

const volume = fc.record({
  spec: fc.dictionary(
    fc.constantFrom(
      ...[
        'nodeName',
        'storageClassName',
        'mode',
        'onDelete',
        'overwrite',
        'template',
        'source',
        'adopt',
      ],
      ...['sparseLoopDevice', 'rawBlockDevice', 'lvmLogicalVolume'],
    ),
    fc.oneof(
      anything,
      fc.record({ size: fc.oneof(quantity, anything) }),
      fc.record({ size: quantity, directory: word.map((each) => `/srv/${each}`) }),
      fc.record({ devicePath: word.map((each) => `/dev/${each}`) }),
      fc.record({ vgName: fc.oneof(fc.constant('vg0'), word), size: quantity }),
    ),
  ),
  fsType: fc.oneof(fc.constantFrom('ext4', 'xfs'), word),
  mkfsOptions: text,
});

/** Targets for objects of a cluster. */
export const OBJECTS: readonly Target[] = [
  {
    name: 'claims, their annotations and their classes',
    share: 0.1,
    property: () =>
      fc.asyncProperty(
        claim,
        parameters,
        fc.boolean(),
        taint,
        toleration,
        (of, given, waits, tainted, tolerated) =>
          tame(() => {
            const { size, dataSource, ...spec } = of.spec;
            const made = {
              apiVersion: 'v1',
              kind: 'PersistentVolumeClaim',
              metadata: { namespace: 'prod', name: of.name, uid: UID, annotations: of.annotations },
              spec: {
                ...spec,
                storageClassName: 'dynamic',
                resources: { requests: { storage: size } },
                dataSource,
              },
              status: { phase: of.phase, capacity: { storage: of.capacity } },
            } as unknown as PersistentVolumeClaim;
            const ofClass: StorageClass = {
              apiVersion: 'storage.k8s.io/v1',
              kind: 'StorageClass',
              metadata: { name: 'dynamic' },
              provisioner: 'volume.stowage.dev',
              volumeBindingMode: waits ? 'WaitForFirstConsumer' : 'Immediate',
              parameters: given,
            };
            dynamicClass(ofClass);
            sourceReference(made);
            droppedSource(made);
            const nodes = [{ ...node('n1'), spec: { taints: [tainted] } }];
            decideClaim(
              input({
                claim: made,
                storageClass: ofClass,
                nodes,
                consumers: [pod({ tolerations: [tolerated] })],
              }),
              0,
            );
          }),
      ),
  },
  {
    name: 'Volumes, Nodes and handles',
    share: 0.1,
    property: () =>
      fc.asyncProperty(volume, annotations, text, ({ spec, fsType, mkfsOptions }, given, handle) =>
        tame(() => {
          const object = {
            apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
            kind: 'Volume',
            metadata: { name: 'data1', uid: UID, annotations: given },
            spec,
          } as unknown as Volume;
          const options = checkClass(
            { ...storageClass, parameters: { fsType, mkfsOptions } },
            object.spec.mode,
          );
          if (validateVolume(object).length === 0 && !('problem' in options))
            desiredOf(object, options);
          const of = {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name: 'n1', annotations: given },
          } as KubeNode;
          addressProblems(of);
          addressOfNode(of);
          minionOfNode(of);
          parseHandle(handle);
          parseDuration(handle);
        }),
      ),
  },
];
