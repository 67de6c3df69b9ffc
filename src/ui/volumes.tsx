import { Component } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Actions } from './actions/buttons.tsx';
import { Age, Badge, Heading, Notice, SourceNotice, useNow, useStore } from './parts.tsx';
import type { VolumeRow } from './protocol.ts';
import { volumeLink, volumesLink } from './routes.ts';
import { directionOf, SortHeading } from './sort-heading.tsx';
import type { Store } from './store.ts';
import { byPhase, knowledgeOf } from './summary.ts';
import { type Column, chosen, type Sorting } from './table.ts';
import { Space, useVisible } from './visible-rows.tsx';

const COLUMNS: readonly [column: Column, heading: string][] = [
  ['name', 'Name'],
  ['node', 'Node'],
  ['type', 'Type'],
  ['size', 'Size'],
  ['phase', 'Phase'],
  ['ready', 'Ready'],
  ['claim', 'Claim'],
  ['age', 'Age'],
];

/** Lists Volumes. Filters are in the URL. */
export function Volumes(props: { store: Store; phase: string; node: string }) {
  const { store, phase, node } = props;
  const { state, revision } = useStore(store);
  const now = useNow();
  const [text, setText] = useState('');
  const [sorting, setSorting] = useState<Sorting>({ by: 'name', descending: false });
  const rows = useMemo(
    () => chosen(state.volumes.values(), { text, phase, node }, sorting),
    [revision, text, phase, node, sorting],
  );
  const nodes = useMemo(
    () => [...new Set([...state.volumes.values()].map((row) => row.node))].filter(Boolean).sort(),
    [revision],
  );
  const phases = useMemo(() => byPhase(state.volumes.values()), [revision]);
  const source = state.sources.get('volumes');
  const { unknown, problem } = knowledgeOf(source, state.connection, state.volumes.size);
  const claims = state.sources.get('persistentvolumes');
  const total = state.volumes.size;
  const isFiltered = text !== '' || phase !== '' || node !== '';
  const filter = (next: { phase?: string; node?: string }) => {
    location.hash = volumesLink({ phase, node, ...next });
  };
  const sortBy = (by: Column) =>
    setSorting((last) => ({ by, descending: last.by === by && !last.descending }));

  return (
    <>
      <Heading title="Volumes">Volumes</Heading>
      <Actions
        label="Actions"
        store={store}
        actions={[{ action: 'createVolume', ...(node !== '' && { initial: { node } }) }]}
      />
      <search class="filters">
        <label>
          Filter
          <input
            type="search"
            value={text}
            placeholder="name, node, claim or reason"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <label>
          Phase
          <select value={phase} onChange={(event) => filter({ phase: event.currentTarget.value })}>
            <option value="">all</option>
            {phases.map((each) => (
              <option key={each.phase} value={each.phase}>
                {each.phase}
              </option>
            ))}
          </select>
        </label>
        <label>
          Node
          <select value={node} onChange={(event) => filter({ node: event.currentTarget.value })}>
            <option value="">all</option>
            {[...new Set([...nodes, ...(node === '' ? [] : [node])])].map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <p class="muted" role="status">
          {unknown && total === 0
            ? 'Loading Volumes…'
            : isFiltered
              ? `${rows.length.toLocaleString()} of ${total.toLocaleString()} Volumes`
              : `${total.toLocaleString()} Volumes`}
        </p>
      </search>
      <SourceNotice source={problem} kind="Volumes" />
      <SourceNotice source={claims?.state === 'refused' ? claims : undefined} kind="Claims" />
      <table class="rows" aria-rowcount={rows.length + 1}>
        <caption class="hidden">Volumes</caption>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(([column, heading]) => (
              <SortHeading
                key={column}
                class={`c-${column}`}
                direction={directionOf(column, sorting)}
                onSort={() => sortBy(column)}
              >
                {heading}
              </SortHeading>
            ))}
          </tr>
        </thead>
        <Body rows={rows} now={now} />
      </table>
      {source?.state === 'listed' && total === 0 && (
        <Notice title="There are no Volumes">
          <p>
            Create one with the button above. In a terminal, <code>stowage create volume</code> asks
            for what it needs.
          </p>
        </Notice>
      )}
      {total > 0 && rows.length === 0 && (
        <Notice title="No Volume matches the filter">
          <button
            type="button"
            onClick={() => {
              setText('');
              location.hash = volumesLink();
            }}
          >
            Clear the filter
          </button>
        </Notice>
      )}
    </>
  );
}

/** Draws the visible rows. A component of its own, as it is drawn again at each scroll event. */
function Body({ rows, now }: { rows: readonly VolumeRow[]; now: number }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to } = useVisible(body, rows.length);
  return (
    <tbody ref={body}>
      <Space rows={from} />
      {rows.slice(from, to).map((row, index) => (
        <Row key={row.name} row={row} index={from + index} now={now} />
      ))}
      <Space rows={rows.length - to} />
    </tbody>
  );
}

interface RowProps {
  row: VolumeRow;
  index: number;
  now: number;
}

class Row extends Component<RowProps> {
  /** A row that changes is replaced, so that equal ones need not be drawn again. */
  override shouldComponentUpdate({ row, index, now }: RowProps): boolean {
    return row !== this.props.row || index !== this.props.index || now !== this.props.now;
  }

  override render({ row, index, now }: RowProps) {
    const { name, node, type, size, phase, ready, reason, claim, created } = row;
    return (
      <tr aria-rowindex={index + 2}>
        <th scope="row" class="c-name" title={name}>
          <a href={volumeLink(name)}>{name}</a>
        </th>
        <td class="c-node" title={node}>
          {node}
        </td>
        <td class="c-type">{type}</td>
        <td class="c-size">{size}</td>
        <td class="c-phase">
          <Badge text={phase} />
        </td>
        <td class="c-ready" title={reason}>
          {ready === '' ? '–' : ready}
        </td>
        <td class="c-claim" title={claim}>
          {claim === '' ? '–' : claim}
        </td>
        <td class="c-age">
          <Age value={created} now={now} />
        </td>
      </tr>
    );
  }
}
