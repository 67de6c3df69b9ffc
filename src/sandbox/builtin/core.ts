import { isDeepStrictEqual } from 'node:util';
import { EVENTS, NODES, PODS } from '../../api/resources.ts';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { badRequest, forbidden, invalidValue, notAllowed } from '../refusal.ts';
import { decodeMicroTimes } from './decode.ts';
import { type Fields, immutable, plain, required } from './plain.ts';
import { admitPod, fillPodDefaults, podCauses, podChanges } from './pod-defaults.ts';

/** Entry in spec.finalizers of every namespace, so that its contents are deleted first. */
export const NAMESPACE_FINALIZER = 'kubernetes';

/** Namespaces that cannot be deleted (NamespaceLifecycle). */
const LASTING = new Set(['default', 'kube-system', 'kube-public']);

export const CORE_KINDS: Kind[] = [
  {
    ...plain,
    plural: 'namespaces',
    singular: 'namespace',
    kind: 'Namespace',
    shortNames: ['ns'],
    statusSubresource: true,
    names: 'label',
    onDelete(object) {
      const { name } = object.metadata;
      if (LASTING.has(name))
        throw notAllowed(CORE_KINDS[0] as Kind, name, 'this namespace may not be deleted');
      object.status = { ...(object.status as Fields), phase: 'Terminating' };
    },
    prepare(object) {
      object.status = { phase: 'Active' };
      object.spec = { finalizers: [NAMESPACE_FINALIZER] };
      object.metadata.labels = {
        ...object.metadata.labels,
        'kubernetes.io/metadata.name': object.metadata.name,
      };
    },
  },
  {
    ...plain,
    ...NODES,
    singular: 'node',
    shortNames: ['no'],
    statusSubresource: true,
    prepare: taintNotReady,
    fillDefaults: fillNode,
  },
  {
    ...plain,
    ...PODS,
    singular: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    statusSubresource: true,
    generations: true,
    fillDefaults: (object) => fillPodDefaults(object.spec as Fields | undefined),
    prepare: (object) => {
      admitPod(object);
      object.status = { phase: 'Pending', qosClass: 'BestEffort' };
    },
    validate: (object, old) => [
      ...podCauses(object.spec as Fields | undefined, 'spec'),
      ...(old === undefined ? [] : podChanges(object, old)),
    ],
  },
  {
    ...plain,
    ...EVENTS,
    singular: 'event',
    shortNames: ['ev'],
    fillDefaults: (object) => decodeMicroTimes(object, object, ['eventTime']),
    validate: (object) => [...required(object, '', ['involvedObject']), ...eventPlace(object)],
  },
  {
    ...plain,
    plural: 'serviceaccounts',
    singular: 'serviceaccount',
    kind: 'ServiceAccount',
    namespaced: true,
    shortNames: ['sa'],
  },
  {
    ...plain,
    plural: 'configmaps',
    singular: 'configmap',
    kind: 'ConfigMap',
    namespaced: true,
    shortNames: ['cm'],
    validate: (object, old) => [
      ...keyCauses(object, ['data', 'binaryData']),
      ...sealed(object, old, ['data', 'binaryData']),
    ],
  },
  {
    ...plain,
    plural: 'secrets',
    singular: 'secret',
    kind: 'Secret',
    namespaced: true,
    fillDefaults: decodeSecret,
    validate: (object, old) => [
      ...keyCauses(object, ['data']),
      ...sealed(object, old, ['data']),
      ...(old === undefined || old.type === object.type ? [] : [immutable('type', object.type)]),
    ],
  },
];

/** Fills allocatable from capacity (SetDefaults_NodeStatus), and podCIDRs from podCIDR. */
function fillNode(object: StoredObject): void {
  const spec = object.spec as { podCIDR?: string; podCIDRs?: string[] } | undefined;
  if (spec?.podCIDR) spec.podCIDRs ??= [spec.podCIDR];
  const status = object.status as { capacity?: object; allocatable?: object } | undefined;
  if (status?.capacity !== undefined) status.allocatable ??= status.capacity;
}

/**
 * Adds the not-ready taint, as the admission plugin TaintNodesByCondition: no pod may come before
 * the node is known to be ready.
 */
function taintNotReady(object: StoredObject): void {
  const spec = (object.spec ?? {}) as { taints?: { key: string; effect: string }[] };
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const has = spec.taints?.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  if (!has) object.spec = { ...spec, taints: [...(spec.taints ?? []), taint] };
}

/**
 * Checks that an Event is in the namespace of its object; for a
 * cluster-scoped object, in `default`.
 */
function eventPlace(object: StoredObject): Cause[] {
  const about = ((object.involvedObject ?? {}) as Fields).namespace ?? '';
  const { namespace } = object.metadata;
  return about === namespace || (about === '' && namespace === 'default')
    ? []
    : [
        invalidValue(
          'involvedObject.namespace',
          JSON.stringify(about),
          'does not match event.namespace',
        ),
      ];
}

const KEY = /^[-._a-zA-Z0-9]{1,253}$/;

function keyCauses(object: StoredObject, maps: string[]): Cause[] {
  return maps.flatMap((map) =>
    Object.keys((object[map] ?? {}) as Fields)
      .filter((key) => !KEY.test(key) || key === '.' || key.startsWith('..'))
      .map((key) =>
        invalidValue(
          `${map}[${key}]`,
          JSON.stringify(key),
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
      ),
  );
}

/** Checks an update of a ConfigMap or Secret with `immutable: true`. */
function sealed(object: StoredObject, old: StoredObject | undefined, fields: string[]): Cause[] {
  if (old?.immutable !== true) return [];
  return ['immutable', ...fields]
    .filter((field) => !isDeepStrictEqual(object[field], old[field]))
    .map((field) => forbidden(field, 'field is immutable when `immutable` is set'));
}

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the offset at which Go's decoder fails: the first invalid character, or
 * the end of the last whole group.
 */
function faultAt(text: string): number {
  const odd = text.search(/[^A-Za-z0-9+/=]/);
  return odd >= 0 ? odd : text.length - (text.length % 4);
}

/** Moves stringData, which is write-only, into data. Throws a 400 for data that is not base64. */
function decodeSecret(object: StoredObject): void {
  const { data, stringData } = object as { data?: Fields; stringData?: Record<string, string> };
  for (const value of Object.values(data ?? {}))
    if (typeof value !== 'string' || !BASE64.test(value))
      throw badRequest(
        `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${faultAt(String(value))}`,
      );
  if (stringData !== undefined) {
    const added = Object.entries(stringData).map(([key, text]) => [
      key,
      Buffer.from(text).toString('base64'),
    ]);
    object.data = { ...data, ...Object.fromEntries(added) };
    delete object.stringData;
  }
  object.type ??= 'Opaque';
}
