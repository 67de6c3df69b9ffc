import type { ComponentChildren } from 'preact';

/** Order of the rows by a column. */
export type Direction = 'none' | 'ascending' | 'descending';

/** Returns the order of a column. */
export const directionOf = <C extends string>(
  column: C,
  { by, descending }: { by: C; descending: boolean },
): Direction => (by !== column ? 'none' : descending ? 'descending' : 'ascending');

const ARROWS: Readonly<Record<Direction, string>> = { none: '', ascending: '↑', descending: '↓' };

/** Heading of a column, which sorts the rows by it. */
export function SortHeading(props: {
  class: string;
  direction: Direction;
  onSort: () => void;
  /** Width (%); default: what the others leave, or the class says. */
  width?: number;
  children: ComponentChildren;
}) {
  const { class: names, direction, onSort, width, children } = props;
  return (
    <th
      scope="col"
      class={names}
      aria-sort={direction}
      {...(width !== undefined && { style: { width: `${width}%` } })}
    >
      <button type="button" onClick={onSort}>
        {children}
        <span aria-hidden="true" class="arrow">
          {ARROWS[direction]}
        </span>
      </button>
    </th>
  );
}
