import { useMemo } from 'preact/hooks';
import { ObjectLink, VolumeName } from './links.tsx';
import { type ListColumn, Listing } from './listing.tsx';
import { Age, Badge, Heading, Notice, SourceNotice, useStore } from './parts.tsx';
import type { ClaimRow } from './protocol.ts';
import { claimLink } from './routes.ts';
import type { Store } from './store.ts';
import { knowledgeOf } from './summary.ts';
import { youngestFirst } from './table.ts';

const COLUMNS: readonly ListColumn<ClaimRow>[] = [
  {
    heading: 'Claim',
    by: ({ name }) => name,
    draw: ({ name }) => <a href={claimLink(name)}>{name}</a>,
    width: 18,
  },
  { heading: 'Phase', by: ({ phase }) => phase, draw: phaseBadge, width: 12 },
  { heading: 'Class', by: ({ storageClass }) => storageClass, width: 11, isExtra: true },
  {
    heading: 'Size',
    by: ({ bytes }) => bytes,
    draw: ({ size }) => (size === '' ? '–' : size),
    width: 8,
  },
  {
    heading: 'Volume',
    by: ({ volume }) => volume,
    draw: ({ volume }) => <VolumeName name={volume} />,
    width: 15,
    isExtra: true,
  },
  {
    heading: 'Data source',
    by: sourceText,
    draw: ({ sourceKind, sourceName }) =>
      sourceKind === '' ? (
        '–'
      ) : (
        <ObjectLink kind={sourceKind} name={sourceName} text={sourceName} />
      ),
    width: 14,
    isExtra: true,
  },
  { heading: 'Reason', by: ({ reason }) => reason, width: 12, isExtra: true },
  {
    heading: 'Age',
    by: ({ created }) => youngestFirst(created),
    draw: ({ created }, now) => <Age value={created} now={now} />,
    width: 10,
    isExtra: true,
  },
];

const texts = (row: ClaimRow) => [
  row.name,
  row.storageClass,
  row.volume,
  sourceText(row),
  row.reason,
  row.phase,
];

/** Lists the claims that Stowage serves. */
export function Claims({ store }: { store: Store }) {
  const { state, revision } = useStore(store);
  const { sources, connection } = state;
  const rows = useMemo(() => [...state.claims.values()], [revision]);
  const known = knowledgeOf(sources.get('claims'), connection, rows.length);
  const refused = (kind: 'volumes' | 'storageclasses') => {
    const source = sources.get(kind);
    return source?.state === 'refused' ? source : undefined;
  };
  return (
    <>
      <Heading title="Claims">Claims</Heading>
      <Listing
        kind="claims"
        rows={rows}
        columns={COLUMNS}
        texts={texts}
        searched="name, class, Volume or reason"
        isLoading={known.unknown}
        empty={
          sources.get('claims')?.state === 'listed' && (
            <Notice title="Stowage serves no claims">
              <p>
                Claims of a storage class of Stowage appear here. Create a class in a terminal:{' '}
                <code>stowage create storageclass</code> asks for what it needs.
              </p>
            </Notice>
          )
        }
        notices={
          <>
            <SourceNotice source={known.problem} kind="Claims" />
            <SourceNotice source={refused('volumes')} kind="Volumes" />
            <SourceNotice source={refused('storageclasses')} kind="Storage classes" />
          </>
        }
      />
    </>
  );
}

function phaseBadge({ phase }: ClaimRow) {
  return <Badge text={phase} />;
}

function sourceText({ sourceKind, sourceName }: ClaimRow): string {
  return sourceKind === '' ? '' : `${sourceKind} ${sourceName}`;
}
