import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { execa } from 'execa';
import type { PersistentVolume } from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Content } from './kinds.ts';
import { until } from './until.ts';

/**
 * MetalK8s without Stowage: its CRD of Volumes, its operator, and the results of its Salt states on
 * a node.
 */

export const SPARSE = '/var/lib/metalk8s/storage/sparse';
export const OPERATOR = 'storage-operator-controller-manager';

const size = { type: 'object', required: ['size'], properties: { size: quantity() } };

function quantity() {
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
}

/** CRD with the fields of MetalK8s only. The template is not described in detail. */
export const METALK8S_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'volumes.storage.metalk8s.scality.com',
    annotations: { 'controller-gen.kubebuilder.io/version': 'v0.10.0' },
  },
  spec: {
    group: 'storage.metalk8s.scality.com',
    names: { kind: 'Volume', listKind: 'VolumeList', plural: 'volumes', singular: 'volume' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
          { name: 'StorageClass', type: 'string', jsonPath: '.spec.storageClassName' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec: {
                type: 'object',
                required: ['nodeName', 'storageClassName'],
                properties: {
                  nodeName: { type: 'string' },
                  storageClassName: { type: 'string' },
                  mode: { type: 'string', enum: ['Filesystem', 'Block'] },
                  template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  sparseLoopDevice: size,
                  rawBlockDevice: {
                    type: 'object',
                    required: ['devicePath'],
                    properties: { devicePath: { type: 'string' } },
                  },
                  lvmLogicalVolume: {
                    type: 'object',
                    required: ['vgName', 'size'],
                    properties: { vgName: { type: 'string' }, size: quantity() },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type', 'status'],
                      properties: {
                        type: { type: 'string', enum: ['Ready'] },
                        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
                        reason: { type: 'string' },
                        message: { type: 'string' },
                        lastUpdateTime: { type: 'string', format: 'date-time' },
                        lastTransitionTime: { type: 'string', format: 'date-time' },
                      },
                    },
                  },
                  deviceName: { type: 'string' },
                  job: { type: 'string' },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const SELECTOR = {
  'app.kubernetes.io/name': 'storage-operator',
  'control-plane': 'controller-manager',
};
const IMAGE = 'metalk8s-registry-from-config.invalid/metalk8s-127.0.0/storage-operator:latest';
const podSpec = { containers: [{ name: 'manager', image: IMAGE, command: ['/manager'] }] };

/** Creates the operator's Deployment and its running pod. */
export async function startOperator(client: KubeClient): Promise<void> {
  await client.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: OPERATOR,
      namespace: 'kube-system',
      labels: { 'control-plane': 'controller-manager' },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: SELECTOR },
      template: { metadata: { labels: SELECTOR }, spec: podSpec },
    },
  } as KubeObject);
  await client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${OPERATOR}-0`, namespace: 'kube-system', labels: SELECTOR },
    spec: podSpec,
  } as KubeObject);
}

export const operatorOf = (client: KubeClient) =>
  client.get<KubeObject & { spec: { replicas: number } }>(DEPLOYMENTS, OPERATOR, {
    namespace: 'kube-system',
  });

/** Deletes the operator's pod once no replica is desired, like the Deployment controller. */
export async function endPodWhenScaledDown(client: KubeClient): Promise<void> {
  await until('the operator is scaled down', async () =>
    (await operatorOf(client)).spec.replicas === 0 ? true : undefined,
  );
  await client.delete(PODS, `${OPERATOR}-0`, { namespace: 'kube-system' });
}

export const definitionOf = (client: KubeClient) =>
  client.get<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, METALK8S_CRD.metadata.name);

export interface Made {
  volume: Volume;
  uid: string;
  /** Path in the PersistentVolume. */
  link: string;
}

/** Provisioned device, as Salt reports it to the operator. */
export interface Prepared {
  /** Persistent path. */
  link: string;
  /** Kernel name, as under /dev. */
  name: string;
  bytes: string;
}

/** Returns the device at a persistent path of this machine. */
export async function deviceAt(link: string): Promise<Prepared> {
  const device = (await execa('realpath', [link])).stdout;
  const { stdout: bytes } = await execa('blockdev', ['--getsize64', device]);
  return { link, name: device.slice('/dev/'.length), bytes };
}

/**
 * Creates a Volume, provisions its storage with `prepare`, and writes the same objects as the
 * operator.
 */
export async function makeVolume(
  client: KubeClient,
  name: string,
  spec: Partial<Volume['spec']>,
  fsType: string | undefined,
  prepare: (uid: string) => Promise<Prepared>,
): Promise<Made> {
  const created = await client.create<Volume>(VOLUMES, {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name, finalizers: ['storage.metalk8s.scality.com/volume-protection'] },
    spec: { nodeName: 'n1', storageClassName: 'local', ...spec },
  });
  const uid = created.metadata.uid ?? '';
  const { link, name: deviceName, bytes } = await prepare(uid);
  await client.create<PersistentVolume>(PERSISTENT_VOLUMES, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      finalizers: ['storage.metalk8s.scality.com/volume-protection'],
      ownerReferences: [
        {
          apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
          kind: 'Volume',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      capacity: { storage: bytes },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      volumeMode: spec.mode ?? 'Filesystem',
      local: { path: link, ...(fsType === undefined ? {} : { fsType }) },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }],
            },
          ],
        },
      },
    },
  });
  const at = new Date().toISOString();
  const status = {
    conditions: [{ type: 'Ready', status: 'True', lastUpdateTime: at, lastTransitionTime: at }],
    deviceName,
    job: '',
  };
  const volume = await client.patch<Volume>(VOLUMES, name, { status }, { subresource: 'status' });
  return { volume, uid, link };
}

/**
 * Applies the Salt state `metalk8s.volumes.prepared` to a sparse file.
 * @returns the persistent path
 */
export async function prepareSparse(
  uid: string,
  name: string,
  bytes: bigint,
  content: Content,
): Promise<string> {
  await mkdir(SPARSE, { recursive: true });
  const file = `${SPARSE}/${uid}`;
  await execa('truncate', ['-s', String(bytes), file]);
  await format(uid, name, file, content);
  // As in the unit metalk8s-sparse-volume@.service.
  const lock = ['--exclusive', '--wait', '10', '/run/metalk8s-sparse-volume.lock'];
  await execa('flock', [...lock, 'losetup', '--find', '--partscan', file]);
  const { stdout } = await execa('losetup', ['-n', '-O', 'NAME', '-j', file]);
  return linked(uid, stdout.trim(), content);
}

/** Applies the same state to a whole device. */
export async function prepareDisk(
  uid: string,
  name: string,
  device: string,
  content: Content,
): Promise<string> {
  await format(uid, name, device, content);
  return linked(uid, device, content);
}

/** Applies the same state to the first partition of a disk. */
export async function preparePartition(
  uid: string,
  name: string,
  disk: string,
  content: Content,
): Promise<string> {
  if (content !== 'Block') return prepareDisk(uid, name, `${disk}p1`, content);
  await execa('sgdisk', ['--partition-guid', `1:${uid}`, '--change-name', `1:${name}`, disk]);
  return named(`/dev/disk/by-partuuid/${uid}`, `${disk}p1`, disk);
}

async function format(uid: string, name: string, path: string, content: Content): Promise<void> {
  if (content === 'Block') {
    const guid = ['--partition-guid', `1:${uid}`, '--change-name', `1:${name}`];
    await execa('sgdisk', ['--largest-new', '1', ...guid, path]);
    return;
  }
  // Otherwise the kernel would write these structures after the mount.
  const now = ['-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  if (content === 'ext4')
    await execa('mkfs.ext4', ['-q', '-F', '-U', uid, '-m', '0', ...now, path]);
  else await execa('mkfs.xfs', ['-q', '-f', '-m', `uuid=${uid}`, path]);
}

async function linked(uid: string, device: string, content: Content): Promise<string> {
  if (content !== 'Block') return named(`/dev/disk/by-uuid/${uid}`, device);
  return named(`/dev/disk/by-partuuid/${uid}`, `${device}p1`, device);
}

/**
 * @param disk disk of the partition: the kernel may be unable to read its table, and may drop the
 * partition
 */
async function named(link: string, device: string, disk?: string): Promise<string> {
  return until(`${link} leads to ${device}`, async () => {
    if (disk !== undefined && !existsSync(device.replace('/dev/', '/sys/class/block/'))) {
      await execa('partx', ['--update', disk], { reject: false });
    }
    await execa('udevadm', ['trigger', '--action=change', `--name-match=${device}`], {
      reject: false,
    });
    await execa('udevadm', ['settle', '--timeout=5'], { reject: false });
    const { stdout } = await execa('realpath', ['-e', link], { reject: false });
    return stdout === device ? link : undefined;
  });
}

/** Hashes all bytes of a device, bypassing the cache. */
export async function hashOf(device: string): Promise<string> {
  await execa('sync', [device]);
  const { stdout } = await execa('sh', [
    '-c',
    'dd if="$1" bs=1M iflag=direct status=none | sha256sum',
    'sh',
    device,
  ]);
  return stdout.split(' ')[0] ?? '';
}
