import { Component, type ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Notice, Scroll, useNow } from './parts.tsx';
import { directionOf, SortHeading } from './sort-heading.tsx';
import { arranged } from './table.ts';
import { Space, useVisible } from './visible-rows.tsx';

export interface ListColumn<T> {
  heading: string;
  /** Returns what the rows are sorted by. A text is also the title of its cell. */
  by: (row: T) => string | number;
  /** Default: the text or the number. */
  draw?: (row: T, now: number) => ComponentChildren;
  /** Width (%). */
  width: number;
  /** True to omit the column on narrow screens. */
  isExtra?: boolean;
}

interface ListingProps<T> {
  /** Plural of the rows' kind, with an s at its end. */
  kind: string;
  rows: readonly T[];
  /** The first one names the row. Constant, as are the functions of a row. */
  columns: readonly ListColumn<T>[];
  /** Returns the texts that the filter searches. */
  texts: (row: T) => readonly string[];
  /** Names these texts. */
  searched: string;
  /** True while the rows are not known yet. */
  isLoading: boolean;
  /** Shown if there are no rows. */
  empty: ComponentChildren;
  /** Messages above the table. */
  notices?: ComponentChildren;
  /** True for few rows with many texts, which wrap. */
  isTall?: boolean;
}

/** Table with a filter and an order. Draws only the visible ones of many rows. */
export function Listing<T extends { name: string }>(props: ListingProps<T>) {
  const { kind, rows, columns, texts, searched, isLoading, empty, notices, isTall } = props;
  const [text, setText] = useState('');
  const [sorting, setSorting] = useState({ by: columns[0]?.heading ?? '', descending: false });
  const found = useMemo(() => {
    const key = columns.find(({ heading }) => heading === sorting.by)?.by ?? (() => '');
    return arranged(rows, text, texts, key, sorting.descending);
  }, [rows, text, sorting]);
  const total = rows.length;
  const table = (
    <table class={isTall ? 'rows tall' : 'rows'} aria-rowcount={found.length + 1}>
      <caption class="hidden">{kind}</caption>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ heading, width, isExtra }) => (
            <SortHeading
              key={heading}
              class={isExtra ? 'extra' : ''}
              width={width}
              direction={directionOf(heading, sorting)}
              onSort={() =>
                setSorting((last) => ({
                  by: heading,
                  descending: last.by === heading && !last.descending,
                }))
              }
            >
              {heading}
            </SortHeading>
          ))}
        </tr>
      </thead>
      {isTall ? (
        <TallBody rows={found} columns={columns} />
      ) : (
        <Body rows={found} columns={columns} />
      )}
    </table>
  );
  return (
    <>
      <search class="filters" aria-label={`Filter ${kind}`}>
        <label>
          Filter
          <input
            type="search"
            value={text}
            placeholder={searched}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <p class="muted" role="status">
          {countText(kind, found.length, total, text, isLoading)}
        </p>
      </search>
      {notices}
      {total > 0 && (isTall ? <Scroll label={kind}>{table}</Scroll> : table)}
      {!isLoading && total === 0 && empty}
      {total > 0 && found.length === 0 && (
        <Notice title={`None of the ${kind} matches the filter`}>
          <button type="button" onClick={() => setText('')}>
            Clear the filter
          </button>
        </Notice>
      )}
    </>
  );
}

function countText(
  kind: string,
  found: number,
  total: number,
  text: string,
  isLoading: boolean,
): string {
  if (isLoading && total === 0) return `Loading ${kind}…`;
  const all = `${total.toLocaleString()} ${total === 1 ? kind.replace(/s$/, '') : kind}`;
  return text === '' ? all : `${found.toLocaleString()} of ${all}`;
}

interface BodyProps<T> {
  rows: readonly T[];
  columns: readonly ListColumn<T>[];
}

/** Draws the visible rows. A component of its own, as it is drawn again at each scroll event. */
function Body<T extends { name: string }>({ rows, columns }: BodyProps<T>) {
  const now = useNow();
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to } = useVisible(body, rows.length);
  return (
    <tbody ref={body}>
      <Space rows={from} />
      {rows.slice(from, to).map((row, index) => (
        <Row key={row.name} row={row} index={from + index} now={now} columns={columns} />
      ))}
      <Space rows={rows.length - to} />
    </tbody>
  );
}

function TallBody<T extends { name: string }>({ rows, columns }: BodyProps<T>) {
  const now = useNow();
  return (
    <tbody>
      {rows.map((row, index) => (
        <Row key={row.name} row={row} index={index} now={now} columns={columns} />
      ))}
    </tbody>
  );
}

interface RowProps {
  row: { name: string };
  index: number;
  now: number;
  // biome-ignore lint/suspicious/noExplicitAny: a class component of preact has no type parameter
  columns: readonly ListColumn<any>[];
}

class Row extends Component<RowProps> {
  /** A row that changes is replaced, so that equal ones need not be drawn again. */
  override shouldComponentUpdate({ row, index, now }: RowProps): boolean {
    return row !== this.props.row || index !== this.props.index || now !== this.props.now;
  }

  override render({ row, index, now, columns }: RowProps) {
    return (
      <tr aria-rowindex={index + 2}>
        {columns.map(({ heading, by, draw, isExtra }, column) => {
          const value = by(row);
          const cell = {
            class: isExtra ? 'extra' : '',
            ...(typeof value === 'string' && { title: value }),
          };
          const shown = draw === undefined ? dashed(value) : draw(row, now);
          return column === 0 ? (
            <th key={heading} scope="row" {...cell}>
              {shown}
            </th>
          ) : (
            <td key={heading} {...cell}>
              {shown}
            </td>
          );
        })}
      </tr>
    );
  }
}

const dashed = (value: string | number): string =>
  value === '' ? '–' : typeof value === 'number' ? value.toLocaleString() : value;
