import type { ReferenceGrant } from '../../api/snapshot.ts';

/** Who refers to something in another namespace. Groups have no version; '' is core. */
export interface Referrer {
  group: string;
  kind: string;
  namespace: string;
}

/** What is referred to. */
export interface Referent {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

type From = ReferenceGrant['spec']['from'][number];
type To = ReferenceGrant['spec']['to'][number];

/**
 * The grant that allows a reference, as Gateway API has it: it is in the namespace of what is referred to, and has both sides.
 * One that is being deleted allows nothing any more. `grants` may be of several namespaces. Pure.
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

/** A grant that allows something like it, and what keeps it from allowing this. */
export interface NearMiss {
  namespace: string;
  name: string;
  /** Parts of a sentence, at least one. */
  wrong: string[];
}

/** Grants that are wrong in more than this are about something else. */
const MOST_WRONG = 3;

/**
 * The grants that nearly allow a reference, the nearest first. For whoever may read grants: what they say is of the namespace
 * that they are in. `grants` may also be of the referrer's namespace, where they are made by mistake. Pure.
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
          `it is in namespace ${namespace}, and must be in that of the ${to.kind}, ${to.namespace}`,
        ]),
    ...nearest(
      fromsOf(grant).map((each) => wrongInFrom(each, from)),
      'it has no from',
    ),
    ...nearest(
      tosOf(grant).map((each) => wrongInTo(each, to)),
      'it has no to',
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

/** Whoever serves the CRD may have left the schema out. */
const fromsOf = ({ spec }: ReferenceGrant): readonly From[] => spec?.from ?? [];
const tosOf = ({ spec }: ReferenceGrant): readonly To[] => spec?.to ?? [];

function wrongInFrom(found: From, wanted: Referrer): string[] {
  return [
    ...wrongType('from', found, wanted),
    ...(found.namespace === wanted.namespace
      ? []
      : [`from.namespace is ${said(found.namespace)}, not ${said(wanted.namespace)}`]),
  ];
}

function wrongInTo(found: To, wanted: Referent): string[] {
  const { name } = found;
  return [
    ...wrongType('to', found, wanted),
    ...(name === undefined || name === null || name === '' || name === wanted.name
      ? []
      : [`to.name is ${said(name)}, not ${said(wanted.name)}`]),
  ];
}

/** Of a kind of another sort altogether, the group says nothing more. */
function wrongType(
  side: 'from' | 'to',
  found: { group: string; kind: string },
  wanted: { group: string; kind: string },
): string[] {
  const groupIsWrong = found.group !== wanted.group;
  const kindIsWrong = found.kind !== wanted.kind;
  if (groupIsWrong && kindIsWrong && found.group === found.group?.split('/')[0]) {
    return [
      `${side}.kind is ${said(found.kind)} of group ${said(found.group)}, not ${typeOf(wanted)}`,
    ];
  }
  return [
    ...(groupIsWrong ? [wrongGroup(side, found.group, wanted.group)] : []),
    ...(kindIsWrong ? [`${side}.kind is ${said(found.kind)}, not ${said(wanted.kind)}`] : []),
  ];
}

const typeOf = ({ group, kind }: { group: string; kind: string }): string =>
  `${said(kind)} of group ${said(group)}`;

/** A group with a version, as the KEP's own examples have it, is the commonest mistake. */
function wrongGroup(side: string, found: string | undefined, wanted: string): string {
  const versioned = found?.split('/')[0] === wanted || (wanted === '' && found === 'v1');
  return `${side}.group is ${said(found)}, ${versioned ? 'with a version: write' : 'not'} ${said(wanted)}`;
}

const said = (text: string | undefined | null): string => JSON.stringify(text ?? '');
