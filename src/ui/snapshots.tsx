import { useMemo } from 'preact/hooks';
import { Actions, type ActionsProps } from './actions/buttons.tsx';
import { reads } from './api.ts';
import { ObjectLink, ObjectLinks, VolumeName } from './links.tsx';
import { type ListColumn, Listing } from './listing.tsx';
import { AnswerBar, AnswerNotes } from './on-demand.tsx';
import { Age, Badge, Heading, Notice, SourceNotice, useStore } from './parts.tsx';
import type { GrantRow } from './protocol.ts';
import { snapshotLink } from './routes.ts';
import type { Store } from './store.ts';
import { knowledgeOf, type SnapshotSummary, withVolumes } from './summary.ts';
import { youngestFirst } from './table.ts';
import { useAnswer } from './use-answer.ts';

const COLUMNS: readonly ListColumn<SnapshotSummary>[] = [
  {
    heading: 'Snapshot',
    by: ({ name }) => name,
    draw: ({ name }) => <a href={snapshotLink(name)}>{name}</a>,
    width: 20,
  },
  {
    heading: 'Phase',
    by: ({ phase }) => phase,
    draw: ({ phase }) => <Badge text={phase} />,
    width: 12,
  },
  {
    heading: 'Size',
    by: ({ bytes }) => bytes,
    draw: ({ size }) => (size === '' ? '–' : size),
    width: 8,
  },
  { heading: 'Class', by: ({ snapshotClass }) => snapshotClass, width: 13, isExtra: true },
  {
    heading: 'Source',
    by: sourceText,
    draw: ({ claim, content }) =>
      claim === '' ? (
        `content ${content}`
      ) : (
        <ObjectLink kind="PersistentVolumeClaim" name={claim} text={claim} />
      ),
    width: 20,
    isExtra: true,
  },
  {
    heading: 'Volume',
    by: ({ volume }) => volume,
    draw: ({ volume }) => <VolumeName name={volume} />,
    width: 17,
    isExtra: true,
  },
  {
    heading: 'Taken',
    by: ({ taken }) => youngestFirst(taken),
    draw: ({ taken }, now) => <Age value={taken} now={now} />,
    width: 10,
    isExtra: true,
  },
];

const texts = (row: SnapshotSummary) => [
  row.name,
  row.snapshotClass,
  sourceText(row),
  row.volume,
  row.phase,
  row.message,
];

function sourceText({ claim, content }: SnapshotSummary): string {
  return claim === '' ? `content ${content}` : claim;
}

const ACTIONS: ActionsProps['actions'] = [
  { action: 'createSnapshot' },
  { action: 'restoreSnapshot' },
  { action: 'grantSnapshot' },
  { action: 'revokeGrant' },
];

/** Lists VolumeSnapshots, and who may use them. */
export function Snapshots({ store }: { store: Store }) {
  const { state, revision } = useStore(store);
  const { sources, connection } = state;
  const rows = useMemo(() => withVolumes(state.snapshots.values(), state.claims), [revision]);
  const known = knowledgeOf(sources.get('snapshots'), connection, rows.length);
  return (
    <>
      <Heading title="Snapshots">Snapshots and grants</Heading>
      <Actions label="Actions" store={store} actions={ACTIONS} />
      <Listing
        kind="snapshots"
        rows={rows}
        columns={COLUMNS}
        texts={texts}
        searched="name, class, source or Volume"
        isLoading={known.unknown}
        empty={
          sources.get('snapshots')?.state === 'listed' && (
            <Notice title="There are no snapshots">
              <p>
                Take one with the button above. In a terminal, <code>stowage create snapshot</code>{' '}
                asks for what it needs.
              </p>
            </Notice>
          )
        }
        notices={<SourceNotice source={known.problem} kind="Snapshots" />}
      />
      <GrantsSection />
    </>
  );
}

const GRANT_COLUMNS: readonly ListColumn<GrantRow>[] = [
  { heading: 'Grant', by: ({ name }) => name, width: 22 },
  { heading: 'Who may', by: ({ from }) => from.join(', '), width: 22 },
  { heading: 'Use', by: ({ to }) => to.join(', '), width: 22 },
  {
    heading: 'Who does',
    by: ({ usedBy }) => usedBy.map(({ name }) => name).join(', '),
    draw: ({ usedBy }) => <ObjectLinks objects={usedBy} />,
    width: 26,
  },
  {
    heading: 'Age',
    by: ({ created }) => youngestFirst(created),
    draw: ({ created }, now) => <Age value={created} now={now} />,
    width: 8,
  },
];

const grantTexts = ({ name, from, to, usedBy }: GrantRow) => [
  name,
  ...from,
  ...to,
  ...usedBy.map((use) => use.name),
];

const NO_GRANTS: readonly GrantRow[] = [];

/** Lists grants. They are read when the screen opens: a watch would follow three kinds. */
function GrantsSection() {
  const state = useAnswer(reads.grants, true);
  const { answer, isBusy } = state;
  return (
    <section aria-labelledby="grants">
      <div class="heading-row">
        <h2 id="grants">Grants</h2>
        <AnswerBar state={state} button="Read again" busy="Reading the cluster…" />
      </div>
      <p class="muted">
        Namespaces that may use snapshots of others, and claims and links that do, as{' '}
        <code>stowage get grants -A</code> lists them.
      </p>
      <Listing
        kind="grants"
        rows={answer?.grants ?? NO_GRANTS}
        columns={GRANT_COLUMNS}
        texts={grantTexts}
        searched="namespace or name"
        isLoading={answer === undefined && isBusy}
        isTall
        empty={
          answer !== undefined && (
            <p>
              Nothing is granted. Grant a snapshot with the button above. In a terminal,{' '}
              <code>stowage grant snapshot</code> asks for what it needs.
            </p>
          )
        }
        notices={<AnswerNotes state={state} problem="The grants could not be read" />}
      />
    </section>
  );
}
