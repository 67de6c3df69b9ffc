import { VOLUME_GROUP, VOLUME_VERSION } from './names.ts';
import { BUILTINS } from './populator.ts';
import { TRANSITION_RULES } from './volume-transitions.ts';

export const text = (maxLength: number, description: string) => ({
  type: 'string',
  maxLength,
  description,
});

const choice = (values: string[], description: string) => ({
  type: 'string',
  enum: values,
  description,
});

/** Not described: kept as it is. */
const anything = (description: string) => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  description,
});

const strings = (description: string) => ({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: 262144 },
  maxProperties: 100,
  description,
});

/** Any quantity that MetalK8s took; what is none makes the Volume Failed, with a message that says more. */
const size = (description: string) => ({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
  description,
});

const time = (description: string) => ({ type: 'string', format: 'date-time', description });

/** Longest names: of nodes and classes (DNS subdomains), and of paths (PATH_MAX). */
const NAME = 253;
const PATH = 4096;

export const spec = {
  type: 'object',
  description:
    'What is wanted. One of sparseLoopDevice, rawBlockDevice and lvmLogicalVolume is given.',
  required: ['nodeName', 'storageClassName'],
  // A Volume of an unknown type is accepted and then Failed, so that its owner is told why.
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-validations': TRANSITION_RULES,
  properties: {
    nodeName: text(NAME, 'The node that holds the storage.'),
    storageClassName: text(
      NAME,
      'The class of the PersistentVolume: file system, mkfs and mount options.',
    ),
    mode: choice(['Filesystem', 'Block'], 'What a pod gets: a directory (default) or a device.'),
    template: {
      type: 'object',
      description: 'Extras for the PersistentVolume.',
      properties: {
        metadata: {
          ...anything('Its metadata, of which labels and annotations are taken.'),
          properties: { labels: strings('Its labels.'), annotations: strings('Its annotations.') },
        },
        spec: anything('Fields of its spec.'),
      },
    },
    sparseLoopDevice: {
      type: 'object',
      description: 'A sparse file, attached as a loop device.',
      required: ['size'],
      properties: {
        size: size('Size of the file. It may grow.'),
        directory: text(
          PATH,
          'Folder of the file on the node. Default: /var/lib/metalk8s/storage/sparse.',
        ),
        requireMount: {
          type: 'boolean',
          description: 'The file is made only where its folder is not on the root file system.',
        },
      },
    },
    rawBlockDevice: {
      type: 'object',
      description: 'A disk or a partition.',
      required: ['devicePath'],
      properties: { devicePath: text(PATH, 'Path of the device on the node.') },
    },
    lvmLogicalVolume: {
      type: 'object',
      description: 'A logical volume of LVM.',
      required: ['vgName', 'size'],
      properties: {
        vgName: text(NAME, 'The volume group on the node.'),
        size: size('Size of the logical volume. It may grow.'),
        thinPool: text(NAME, 'The thin pool of that group to take it from.'),
      },
    },
    attachPolicy: choice(
      ['Always', 'OnDemand'],
      'Kept attached on its node (default), or where a pod needs it.',
    ),
    attachableNodes: {
      type: 'array',
      description:
        'The nodes that share the directory of a sparseLoopDevice, nodeName among them: the volume follows its pod there, with attachPolicy OnDemand.',
      maxItems: 100,
      items: { type: 'string', maxLength: NAME },
    },
    overwrite: text(
      PATH,
      'What is on the device and may be destroyed, as the refusal to do so names it.',
    ),
    onDelete: choice(
      ['Delete', 'Retain', 'Wipe'],
      'What becomes of the data when the Volume is deleted.',
    ),
    adopt: {
      type: 'object',
      description:
        'Storage that is there and is taken with its data: that of a Volume that is gone, or whose node is known to be dead.',
      required: ['uid'],
      properties: {
        uid: text(36, 'The UID of that Volume, which is what its storage is named by.'),
      },
    },
    source: {
      type: 'object',
      description: 'What the volume starts from: one of these.',
      properties: {
        snapshotContentName: text(NAME, 'A VolumeSnapshotContent.'),
        volumeName: text(NAME, 'Another Volume.'),
        populator: {
          type: 'object',
          description: 'An object that a built-in fills volumes from, on their node.',
          required: ['builtin', 'namespace', 'name', 'options'],
          properties: {
            builtin: choice([...BUILTINS], 'What fills it.'),
            namespace: text(NAME, 'That of the object.'),
            name: text(NAME, 'Its name.'),
            options: {
              type: 'object',
              description: 'What the object said when the volume was made.',
              additionalProperties: text(PATH, 'A field.'),
              maxProperties: 20,
            },
          },
        },
        uid: text(NAME, 'The UID of that object: another one of its name is not it.'),
      },
    },
  },
};

const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastUpdateTime: time('When it was last written.'),
    lastTransitionTime: time('When its status last changed.'),
  },
};

const attachment = {
  type: 'object',
  required: ['node', 'state', 'safeToMount', 'safeToDetach', 'pods', 'since'],
  properties: {
    node: { type: 'string' },
    state: choice(
      ['Attaching', 'Attached', 'Detaching', 'Uncertain'],
      'Uncertain counts as attached until the node was looked at.',
    ),
    readOnly: { type: 'boolean', description: 'The device cannot be written to.' },
    safeToMount: {
      type: 'boolean',
      description: 'The persistent path is there and leads to the device.',
    },
    safeToDetach: { type: 'boolean', description: 'Nothing on the node uses the device.' },
    pods: {
      type: 'array',
      description: 'Those that need it there, as namespace/name.',
      items: { type: 'string' },
    },
    device: {
      type: 'string',
      description: 'Name of the device in the kernel of that node, as under /dev.',
    },
    since: time('When it came into this state.'),
    message: { type: 'string', description: 'What holds it up.' },
  },
};

export const status = {
  type: 'object',
  description: 'What was done, as last seen.',
  properties: {
    phase: choice(['Pending', 'Available', 'Failed', 'Terminating'], 'Unset: not known.'),
    conditions: {
      type: 'array',
      description: 'Ready tells whether the volume can be used, and if not why.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: condition,
    },
    job: {
      type: 'string',
      description: 'The work under way on the node: <Operation>/<id>, or <Operation>/DONE.',
    },
    deviceName: { type: 'string', description: 'Name of the device in the kernel, as under /dev.' },
    devicePath: {
      type: 'string',
      description: 'Persistent path of the device, as in the PersistentVolume.',
    },
    capacity: { type: 'string', description: 'Size of the device, measured.' },
    jobNode: {
      type: 'string',
      description: 'The node of that job, where it is not that of the Volume.',
    },
    prepared: {
      type: 'object',
      description: 'What was made, and where; deletion goes by this.',
      required: ['node', 'paths', 'identity'],
      properties: {
        node: { type: 'string' },
        paths: { type: 'array', items: { type: 'string' } },
        identity: { type: 'string' },
      },
    },
    attachments: {
      type: 'array',
      description: 'Where the device is. A node that is not listed does not have it.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['node'],
      items: attachment,
    },
    attempt: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'Number of the last job.',
    },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
};

export const column = (name: string, jsonPath: string, description: string) => ({
  name,
  type: name === 'Age' ? 'date' : 'string',
  jsonPath,
  description,
});

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) of Volume. */
export const VOLUME_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `volumes.${VOLUME_GROUP}` },
  spec: {
    group: VOLUME_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'Volume',
      listKind: 'VolumeList',
      plural: 'volumes',
      singular: 'volume',
      shortNames: ['vol'],
    },
    versions: [
      {
        name: VOLUME_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Node', '.spec.nodeName', 'The node that holds the storage'),
          column('Phase', '.status.phase', 'How far the volume is'),
          column('Device', '.status.deviceName', 'The name of the device in the kernel'),
          column('Capacity', '.status.capacity', 'The measured size'),
          column('StorageClass', '.spec.storageClassName', 'The storage class of the volume'),
          column('Age', '.metadata.creationTimestamp', 'Time since its creation'),
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Storage on a node that becomes a PersistentVolume.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec,
              status,
            },
          },
        },
      },
    ],
  },
};
