import { isDeepStrictEqual } from 'node:util';
import type { Cause, StoredObject } from '../kind.ts';
import { forbidden, requiredValue } from '../refusal.ts';
import type { Fields } from './plain.ts';

/** Fills the defaults of a pod's or a pod template's spec (pkg/apis/core/v1/defaults.go). */
export function fillPodDefaults(spec: Fields | undefined): void {
  if (spec === undefined) return;
  fill(spec, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  for (const field of ['containers', 'initContainers'])
    for (const container of listOf(spec[field])) fillContainer(container);
  for (const volume of listOf(spec.volumes)) fillVolume(volume);
}

/** Fills the fields that admission sets on pods only. */
export function admitPod({ spec }: StoredObject & { spec?: Fields }): void {
  if (spec === undefined) return;
  fill(spec, { enableServiceLinks: true, priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  const tolerations = listOf(spec.tolerations);
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'])
    if (!tolerations.some((one) => one.key === key || one.key === undefined))
      tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  spec.tolerations = tolerations;
}

function fillContainer(container: Fields): void {
  const image = String(container.image ?? '');
  const latest = /:latest$/.test(image) || !/[:@][^/]*$/.test(image);
  fill(container, {
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  for (const port of listOf(container.ports)) fill(port, { protocol: 'TCP' });
}

function fillVolume(volume: Fields): void {
  if (Object.keys(volume).every((field) => field === 'name')) volume.emptyDir = {};
  for (const source of ['configMap', 'secret', 'projected', 'downwardAPI'])
    fill(volume[source], { defaultMode: 420 });
  fill(volume.hostPath, { type: '' });
}

/** Adds the fields that are absent. */
export function fill(fields: unknown, defaults: Fields): void {
  if (typeof fields !== 'object' || fields === null) return;
  for (const [field, value] of Object.entries(defaults))
    if ((fields as Fields)[field] === undefined) (fields as Fields)[field] = structuredClone(value);
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as Fields[]) : []);

/** Returns the causes for missing fields of the pod's spec at `path`. */
export function podCauses(spec: Fields | undefined, path: string): Cause[] {
  const containers = listOf(spec?.containers);
  if (containers.length === 0) return [requiredValue(`${path}.containers`)];
  return containers.flatMap(({ name, image }, i) => [
    ...(name ? [] : [requiredValue(`${path}.containers[${i}].name`)]),
    ...(image ? [] : [requiredValue(`${path}.containers[${i}].image`)]),
  ]);
}

/** Checks an update as ValidatePodUpdate: few fields of the spec may change, and never the node. */
export function podChanges(object: StoredObject, old: StoredObject): Cause[] {
  const fixed = ({ spec }: StoredObject) => {
    const { activeDeadlineSeconds, tolerations, terminationGracePeriodSeconds, ...rest } = (spec ??
      {}) as Fields;
    const withoutImages = (list: unknown) =>
      listOf(list).map(({ image, ...container }) => container);
    return {
      ...rest,
      containers: withoutImages(rest.containers),
      initContainers: withoutImages(rest.initContainers),
    };
  };
  if (isDeepStrictEqual(fixed(object), fixed(old))) return [];
  return [
    forbidden(
      'spec',
      'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
    ),
  ];
}
