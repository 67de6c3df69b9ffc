import { createHash } from 'node:crypto';
import type { PersistentVolumeClaim, Pod } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import {
  COMPONENT,
  POPULATE_ORIGIN_ANNOTATION,
  POPULATE_TOLERATIONS_ANNOTATION,
  POPULATES_ANNOTATION,
  POPULATES_LABEL,
  SELECTED_NODE_ANNOTATION,
} from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { isUid } from '../../api/uid.ts';
import { SubstitutionError, substitute } from '../../model/substitute.ts';
import { originOf } from './attempts.ts';
import { containerSecurityOf, podSecurityOf } from './pod-security.ts';
import type { PodSettings } from './types.ts';

/** Names as in lib-volume-populator, by the UID of the claim to fill. */
export const primeNameOf = (uid: string): string => `prime-${uid}`;
export const podNameOf = (uid: string): string => `populate-${uid}`;
export const CONTAINER = 'populate';
export const TARGET = 'target';

const UID = /^(?:prime|populate)-(.+)$/;

/** Returns the UID of the claim that a prime claim or pod is for, by its name. */
export const uidOfName = (name: string): string | undefined => UID.exec(name)?.[1];

/** Returns the UID of the claim that a prime claim is for; undefined for any other claim's name. */
export function targetUidOf(name: string): string | undefined {
  const uid = uidOfName(name);
  return isUid(uid) && name === primeNameOf(uid) ? uid : undefined;
}

/**
 * Returns the claim that a prime claim or pod names as its target; undefined if another creator
 * made it.
 */
export function targetOf({
  metadata,
}: KubeObject): { namespace: string; name: string } | undefined {
  const [namespace, name, ...more] = metadata.annotations?.[POPULATES_ANNOTATION]?.split('/') ?? [];
  return namespace && name && more.length === 0 ? { namespace, name } : undefined;
}

function metadataOf(name: string, namespace: string, claim: PersistentVolumeClaim) {
  const { metadata } = claim;
  return {
    name,
    namespace,
    labels: {
      'app.kubernetes.io/managed-by': COMPONENT,
      [POPULATES_LABEL]: metadata.uid ?? '',
    },
    annotations: { [POPULATES_ANNOTATION]: `${metadata.namespace}/${metadata.name}` },
  };
}

/**
 * Returns an empty prime claim in the daemon's namespace. Copies the spec except the data source
 * (KEP-1495), so that the provisioner of the class honors or refuses each field.
 */
export function primeOf(claim: PersistentVolumeClaim, namespace: string): PersistentVolumeClaim {
  const { uid = '', annotations } = claim.metadata;
  const {
    accessModes,
    resources,
    selector,
    storageClassName,
    volumeAttributesClassName,
    volumeMode,
  } = claim.spec;
  const selected = annotations?.[SELECTED_NODE_ANNOTATION];
  const metadata = metadataOf(primeNameOf(uid), namespace, claim);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        ...(selected === undefined ? {} : { [SELECTED_NODE_ANNOTATION]: selected }),
      },
    },
    spec: {
      ...(accessModes && { accessModes }),
      ...(resources && { resources }),
      ...(selector && { selector }),
      ...(storageClassName !== undefined && { storageClassName }),
      ...(volumeAttributesClassName && { volumeAttributesClassName }),
      ...(volumeMode && { volumeMode }),
    },
  };
}

/**
 * Reports whether a pod was created with other tolerations of a waiting pod than these. Its own
 * tolerations do not prove it, as admission plugins change them. Pure.
 */
export const toleratesOthers = (
  { metadata }: Pod,
  tolerations: PodSettings['tolerations'],
): boolean => metadata.annotations?.[POPULATE_TOLERATIONS_ANNOTATION] !== digestOf(tolerations);

/** Returns a digest of tolerations; undefined for none. */
const digestOf = (tolerations: PodSettings['tolerations']): string | undefined =>
  tolerations.length === 0
    ? undefined
    : createHash('sha256').update(JSON.stringify(tolerations)).digest('hex').slice(0, 32);

/**
 * Returns the pod that fills the prime claim. The end of the container's log goes into the pod's
 * status, so that no right to read logs is needed. Throws SubstitutionError if the source lacks a
 * field. Pure.
 */
export function podOf(
  claim: PersistentVolumeClaim,
  definition: PopulatorDefinition,
  source: KubeObject,
  { namespace, user, tolerations: consumers }: PodSettings,
): Pod {
  const { pod } = definition.spec;
  if (pod === undefined) throw new SubstitutionError('spec.pod is missing');
  const { uid = '' } = claim.metadata;
  const isBlock = claim.spec.volumeMode === 'Block';
  const path = isBlock ? pod.devicePath : pod.mountPath;
  if (path === undefined) {
    const [mode, field] = isBlock ? ['Block', 'devicePath'] : ['Filesystem', 'mountPath'];
    throw new SubstitutionError(`volumes of mode ${mode} need spec.pod.${field}`);
  }
  const secrets = pod.secrets ?? [];
  const mounts = secrets.map(({ mountPath }, index) => ({
    name: `secret-${index}`,
    mountPath,
    readOnly: true,
  }));
  // The first toleration of a taint counts: the definition overrides that of the waiting pod.
  const tolerations = [...(pod.tolerations ?? []), ...consumers];
  const digest = digestOf(consumers);
  const spec = {
    restartPolicy: 'Never',
    securityContext: podSecurityOf(pod, user),
    ...(tolerations.length > 0 && { tolerations }),
    ...(pod.nodeSelector && { nodeSelector: pod.nodeSelector }),
    automountServiceAccountToken: pod.serviceAccountName !== undefined,
    enableServiceLinks: false,
    ...(pod.serviceAccountName === undefined ? {} : { serviceAccountName: pod.serviceAccountName }),
    containers: [
      {
        name: CONTAINER,
        image: pod.image,
        ...(pod.imagePullPolicy && { imagePullPolicy: pod.imagePullPolicy }),
        ...(pod.command && { command: pod.command }),
        ...(pod.args && { args: pod.args.map((each) => substitute(each, source)) }),
        ...(pod.env && {
          env: pod.env.map(({ name, value, secret }) =>
            secret === undefined
              ? { name, value: substitute(value ?? '', source) }
              : { name, valueFrom: { secretKeyRef: { name: secret.name, key: secret.key } } },
          ),
        }),
        ...(pod.resources && { resources: pod.resources }),
        securityContext: containerSecurityOf(pod),
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [...(isBlock ? [] : [{ name: TARGET, mountPath: path }]), ...mounts],
        ...(isBlock ? { volumeDevices: [{ name: TARGET, devicePath: path }] } : {}),
      },
    ],
    volumes: [
      { name: TARGET, persistentVolumeClaim: { claimName: primeNameOf(uid) } },
      ...secrets.map(({ name }, index) => ({
        name: `secret-${index}`,
        secret: { secretName: name },
      })),
    ],
  };
  const metadata = metadataOf(podNameOf(uid), namespace, claim);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [POPULATE_ORIGIN_ANNOTATION]: originOf(definition, source),
        ...(digest !== undefined && { [POPULATE_TOLERATIONS_ANNOTATION]: digest }),
      },
    },
    spec,
  };
}
