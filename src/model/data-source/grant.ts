import type { ReferenceGrant } from '../../api/snapshot.ts';

/** Referrer to an object in another namespace. Groups have no version; '' is core. */
export interface Referrer {
  group: string;
  kind: string;
  namespace: string;
}

/** Object of a reference. */
export interface Referent {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

type From = ReferenceGrant['spec']['from'][number];
type To = ReferenceGrant['spec']['to'][number];

/**
 * Returns the grant that allows a reference, as Gateway API defines it: in the referent's
 * namespace, and with both sides. A grant that is being deleted allows nothing. `grants` may be of
 * several namespaces. Pure.
 */
export function grantFor(
  grants: readonly ReferenceGrant[],
  from: Referrer,
  to: Referent,
): ReferenceGrant | undefined {
  return grants.find(
    (grant) =>
      isInForce(grant) &&
      grant.metadata.namespace === to.namespace &&
      fromsOf(grant).some((each) => wrongInFrom(each, from).length === 0) &&
      tosOf(grant).some((each) => wrongInTo(each, to).length === 0),
  );
}

export const isGranted = (
  grants: readonly ReferenceGrant[],
  from: Referrer,
  to: Referent,
): boolean => grantFor(grants, from, to) !== undefined;

/** Grant that allows something similar, and why it does not allow this reference. */
export interface NearMiss {
  namespace: string;
  name: string;
  /** Mismatches as parts of a sentence, at least one. */
  wrong: string[];
}

/** Maximum mismatches: a grant with more is about something else. */
const MOST_WRONG = 3;

/**
 * Returns the grants that nearly allow a reference, the nearest first. Only for users who may read
 * grants, since the result shows those of the other namespace. `grants` may include the referrer's
 * namespace, where they are often created by mistake. Pure.
 */
export function nearMisses(
  grants: readonly ReferenceGrant[],
  from: Referrer,
  to: Referent,
): NearMiss[] {
  return grants
    .map((grant) => missOf(grant, from, to))
    .filter(({ wrong }) => wrong.length > 0 && wrong.length <= MOST_WRONG)
    .sort((a, b) => a.wrong.length - b.wrong.length);
}

function missOf(grant: ReferenceGrant, from: Referrer, to: Referent): NearMiss {
  const { namespace = '', name } = grant.metadata;
  const wrong = [
    ...(isInForce(grant) ? [] : ['it is being deleted']),
    ...(namespace === to.namespace
      ? []
      : [
          `it is in namespace ${namespace}, but must be in namespace ${to.namespace} of the ${to.kind}`,
        ]),
    ...nearest(
      fromsOf(grant).map((each) => wrongInFrom(each, from)),
      'spec.from is empty',
    ),
    ...nearest(
      tosOf(grant).map((each) => wrongInTo(each, to)),
      'spec.to is empty',
    ),
  ];
  return { namespace, name, wrong };
}

function nearest(all: readonly string[][], none: string): string[] {
  const [first] = all.toSorted((a, b) => a.length - b.length);
  return first ?? [none];
}

const isInForce = ({ metadata }: ReferenceGrant): boolean =>
  metadata.deletionTimestamp === undefined;

/** Empty without a spec: the installed CRD may lack its schema. */
const fromsOf = ({ spec }: ReferenceGrant): readonly From[] => spec?.from ?? [];
const tosOf = ({ spec }: ReferenceGrant): readonly To[] => spec?.to ?? [];

function wrongInFrom(found: From, wanted: Referrer): string[] {
  return [
    ...wrongType('from', found, wanted),
    ...(found.namespace === wanted.namespace
      ? []
      : [`from.namespace is ${quoted(found.namespace)}, not ${quoted(wanted.namespace)}`]),
  ];
}

function wrongInTo(found: To, wanted: Referent): string[] {
  const { name } = found;
  return [
    ...wrongType('to', found, wanted),
    ...(name === undefined || name === null || name === '' || name === wanted.name
      ? []
      : [`to.name is ${quoted(name)}, not ${quoted(wanted.name)}`]),
  ];
}

/**
 * Returns the mismatches of group and kind, combined if both differ and the group has no version.
 */
function wrongType(
  side: 'from' | 'to',
  found: { group: string; kind: string },
  wanted: { group: string; kind: string },
): string[] {
  const groupIsWrong = found.group !== wanted.group;
  const kindIsWrong = found.kind !== wanted.kind;
  if (groupIsWrong && kindIsWrong && found.group === found.group?.split('/')[0]) {
    return [
      `${side}.kind is ${quoted(found.kind)} of group ${quoted(found.group)}, not ${typeOf(wanted)}`,
    ];
  }
  return [
    ...(groupIsWrong ? [wrongGroup(side, found.group, wanted.group)] : []),
    ...(kindIsWrong ? [`${side}.kind is ${quoted(found.kind)}, not ${quoted(wanted.kind)}`] : []),
  ];
}

const typeOf = ({ group, kind }: { group: string; kind: string }): string =>
  `${quoted(kind)} of group ${quoted(group)}`;

/** Returns the mismatch of a group. A version in it, as in the KEP's own examples, is common. */
function wrongGroup(side: string, found: string | undefined, wanted: string): string {
  const versioned = found?.split('/')[0] === wanted || (wanted === '' && found === 'v1');
  return `${side}.group is ${quoted(found)}, not ${quoted(wanted)}${versioned ? ' (without a version)' : ''}`;
}

const quoted = (text: string | undefined | null): string => JSON.stringify(text ?? '');
