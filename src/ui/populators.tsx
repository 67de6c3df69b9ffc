import { reads } from './api.ts';
import { ObjectLinks } from './links.tsx';
import { type ListColumn, Listing } from './listing.tsx';
import { AnswerBar, AnswerNotes } from './on-demand.tsx';
import { Age, Heading, Notice } from './parts.tsx';
import type { PopulatorRow, UseRow } from './protocol.ts';
import { youngestFirst } from './table.ts';
import { useAnswer } from './use-answer.ts';

const namesOf = (uses: readonly UseRow[]): string => uses.map(({ name }) => name).join(', ');

const COLUMNS: readonly ListColumn<PopulatorRow>[] = [
  { heading: 'Populator', by: ({ name }) => name, width: 18 },
  { heading: 'Kind of source', by: ({ source }) => source, width: 24 },
  {
    heading: 'By',
    by: ({ by, registered }) => (registered ? by : `${by}, without a VolumePopulator`),
    width: 20,
  },
  {
    heading: 'Waiting',
    by: ({ waiting }) => namesOf(waiting),
    draw: ({ waiting }) => <ObjectLinks objects={waiting} />,
    width: 15,
  },
  {
    heading: 'Filled',
    by: ({ filled }) => namesOf(filled),
    draw: ({ filled }) => <ObjectLinks objects={filled} />,
    width: 15,
  },
  {
    heading: 'Age',
    by: ({ created }) => youngestFirst(created),
    draw: ({ created }, now) => <Age value={created} now={now} />,
    width: 8,
  },
];

const texts = ({ name, source, by, waiting, filled }: PopulatorRow) => [
  name,
  source,
  by,
  ...[...waiting, ...filled].map((use) => use.name),
];

const NONE: readonly PopulatorRow[] = [];

/** Lists populators. They are read when the screen opens. */
export function PopulatorsScreen() {
  const state = useAnswer(reads.populators, true);
  const { answer, isBusy } = state;
  return (
    <>
      <Heading title="Populators">Populators</Heading>
      <div class="heading-row">
        <AnswerBar state={state} button="Read again" busy="Reading the cluster…" />
      </div>
      <p class="muted">
        Kinds that volumes are filled from, and claims that name them, as{' '}
        <code>stowage get populators</code> lists them.
      </p>
      <Listing
        kind="populators"
        rows={answer?.populators ?? NONE}
        columns={COLUMNS}
        texts={texts}
        searched="name, kind or claim"
        isLoading={answer === undefined && isBusy}
        isTall
        empty={
          answer !== undefined && (
            <Notice title="No populator is registered">
              <p>
                Register one in a terminal: <code>stowage register populator</code> asks for what it
                needs.
              </p>
            </Notice>
          )
        }
        notices={<AnswerNotes state={state} problem="The populators could not be read" />}
      />
    </>
  );
}
