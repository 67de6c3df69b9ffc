import { apiVersionOf } from '../../api/meta.ts';
import type { Kind } from '../kind.ts';
import type { KindRegistry } from '../kind-registry.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/** Verbs of custom resources, in the API server's order. */
const CUSTOM_VERBS = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
const STATUS_VERBS = ['get', 'patch', 'update'];

/** Returns the discovery document at a path; undefined for any other path. */
export function discovery(path: string, kinds: KindRegistry): object | undefined {
  const all = kinds.all();
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups(all) };
  const version = path === '/api/v1' ? 'v1' : /^\/apis\/([^/]+\/[^/]+)$/.exec(path)?.[1];
  const served = all.filter((kind) => apiVersionOf(kind) === version);
  if (version === undefined || served.length === 0)
    return groups(all).find(({ name }) => path === `/apis/${name}`);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: version,
    resources: served.flatMap(resources),
  };
}

function groups(kinds: Kind[]) {
  const names = new Set(kinds.map((kind) => kind.group).filter((group) => group !== ''));
  return [...names].map((name) => {
    const versions = [
      ...new Set(kinds.filter((kind) => kind.group === name).map((kind) => kind.version)),
    ]
      .sort(newestFirst)
      .map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion: versions[0] };
  });
}

/**
 * Compares versions: v2, v1, v1beta1, v1alpha1, then others by name. Clients
 * without a preference use the first.
 */
function newestFirst(a: string, b: string): number {
  const [left, right] = [ranks(a), ranks(b)];
  for (const [i, rank] of left.entries()) if (rank !== right[i]) return (right[i] ?? 0) - rank;
  return a < b ? -1 : 1;
}

const STABILITIES = ['alpha', 'beta', undefined];

function ranks(version: string): number[] {
  const [all, major, stability, minor = 0] =
    /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  return all === undefined
    ? [-1, 0, 0]
    : [STABILITIES.indexOf(stability), Number(major), Number(minor)];
}

function resources(kind: Kind) {
  const { plural, singular, namespaced } = kind;
  const common = { namespaced, kind: kind.kind };
  return [
    {
      name: plural,
      singularName: singular,
      ...common,
      verbs: kind.custom ? CUSTOM_VERBS : VERBS,
      ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
      ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
    },
    ...(kind.statusSubresource
      ? [{ name: `${plural}/status`, singularName: '', ...common, verbs: STATUS_VERBS }]
      : []),
  ];
}
