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

/** MetalK8s as it was before Stowage: its definition of Volumes, its operator, and what its Salt states leave on a node. */

export const SPARSE = '/var/lib/metalk8s/storage/sparse';
export const OPERATOR = 'storage-operator-controller-manager';

const size = { type: 'object', required: ['size'], properties: { size: quantity() } };

function quantity() {
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
}

/** With MetalK8s's fields alone; its template is not described any further. */
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

/** Its Deployment, and the pod of it that runs. */
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

/** What the controller of Deployments does: the pod goes once no replica is wanted. */
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
  /** That the PersistentVolume leads to. */
  link: string;
}

/** A device that was made, as Salt tells the operator of it. */
export interface Prepared {
  /** The persistent path. */
  link: string;
  /** The kernel's name, as under /dev. */
  name: string;
  bytes: string;
}

/** Of a persistent path of this machine. */
export async function lookHere(link: string): Promise<Prepared> {
  const device = (await execa('realpath', [link])).stdout;
  const { stdout: bytes } = await execa('blockdev', ['--getsize64', device]);
  return { link, name: device.slice('/dev/'.length), bytes };
}

/** Creates a Volume, has it made by `prepare`, and writes what the operator writes then. */
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

/** The state `metalk8s.volumes.prepared`, of a sparse file: returns the link. */
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
  // As its unit metalk8s-sparse-volume@.service does.
  const lock = ['--exclusive', '--wait', '10', '/run/metalk8s-sparse-volume.lock'];
  await execa('flock', [...lock, 'losetup', '--find', '--partscan', file]);
  const { stdout } = await execa('losetup', ['-n', '-O', 'NAME', '-j', file]);
  return linked(uid, stdout.trim(), content);
}

/** The same of a whole device. */
export async function prepareDisk(
  uid: string,
  name: string,
  device: string,
  content: Content,
): Promise<string> {
  await format(uid, name, device, content);
  return linked(uid, device, content);
}

/** The same of the first partition of a disk. */
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
  // What the kernel would otherwise write by itself while it is mounted.
  const now = ['-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  if (content === 'ext4')
    await execa('mkfs.ext4', ['-q', '-F', '-U', uid, '-m', '0', ...now, path]);
  else await execa('mkfs.xfs', ['-q', '-f', '-m', `uuid=${uid}`, path]);
}

async function linked(uid: string, device: string, content: Content): Promise<string> {
  if (content !== 'Block') return named(`/dev/disk/by-uuid/${uid}`, device);
  return named(`/dev/disk/by-partuuid/${uid}`, `${device}p1`, device);
}

/** @param disk that the device is a partition of. This kernel may read no tables by itself, and forget what it was told. */
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

/** Of every byte of a device, past the cache. */
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
