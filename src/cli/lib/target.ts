import { DNS_SUBDOMAIN, isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import {
  CLAIM_NAMES,
  GROUPS,
  NODE_NAMES,
  POD_NAMES,
  SNAPSHOT_NAMES,
  VOLUME_NAMES,
} from './resource-names.ts';

export interface Target {
  kind: 'Volume' | 'Pod' | 'PersistentVolumeClaim' | 'VolumeSnapshot' | 'Node';
  name: string;
  /** Set if the name has one. */
  namespace?: string;
}

const KINDS: readonly [kind: Target['kind'], nouns: readonly string[], namespaced: boolean][] = [
  ['Volume', VOLUME_NAMES, false],
  ['Pod', POD_NAMES, true],
  ['PersistentVolumeClaim', CLAIM_NAMES, true],
  ['VolumeSnapshot', SNAPSHOT_NAMES, true],
  ['Node', NODE_NAMES, false],
];

const EXAMPLE = `stowage why takes ${KINDS.map(([, nouns]) => nouns.join('|')).join(', ')}. For example: stowage why volume/data1, or stowage why pod db/db-0`;

/**
 * Parses `KIND NAME…` and `KIND/NAME…`; the latter may be of several kinds.
 * Throws a StowageError `usage` for anything else.
 */
export function parseTargets(noun: string, names: readonly string[]): Target[] {
  if (names.length === 0) return [parseTarget(noun, undefined)];
  if (!noun.includes('/')) return names.map((name) => parseTarget(noun, name));
  return [noun, ...names].map((word) => parseTarget(word, undefined));
}

/**
 * Parses `volume NAME`, `volume/NAME`, `pod [NAMESPACE/]NAME`, `pod/[NAMESPACE/]NAME`, and so on;
 * a kind may carry its API group.
 * Throws a StowageError `usage` for anything else.
 */
export function parseTarget(noun: string, given: string | undefined): Target {
  const [typed = '', ...inKind] = noun.split('/');
  const [word = '', ...group] = typed.split('.');
  const isOther = group.length > 0 && group.join('.') !== GROUPS[word];
  const [kind, , namespaced] = KINDS.find(([, nouns]) => nouns.includes(word) && !isOther) ?? [];
  if (kind === undefined) {
    throw new StowageError(
      'usage',
      `stowage why explains Volumes, pods, claims, snapshots and nodes, but not ${JSON.stringify(typed)}`,
      { hint: EXAMPLE },
    );
  }
  const inName = given === undefined ? [] : namespaced ? given.split('/') : [given];
  const parts = inKind.length > 0 ? inKind : inName;
  const [name, namespace, ...more] = parts.toReversed();
  const both = inKind.length > 0 && inName.length > 0;
  if (name === undefined || both || more.length > 0 || (namespace !== undefined && !namespaced)) {
    throw new StowageError('usage', `A name of a ${kind} is required`, { hint: EXAMPLE });
  }
  const wrong = parts.find((part) => !isDnsSubdomain(part));
  if (wrong !== undefined) {
    throw new StowageError(
      'usage',
      `${JSON.stringify(parts.join('/'))} is not a valid name of a ${kind}: a name has ${DNS_SUBDOMAIN}`,
    );
  }
  return { kind, name, ...(namespace === undefined ? {} : { namespace }) };
}
