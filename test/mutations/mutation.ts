/** A change to the code that breaks an invariant of docs/design.md, so that some test must fail. */
export interface Mutation {
  /** Names the mutation in results and on the command line. */
  id: string;
  /** The number of the invariant that the change breaks, as docs/design.md counts them. */
  invariant: number;
  /** States how, in one short sentence. */
  breaks: string;
  /** The file that is changed, relative to the checkout. */
  file: string;
  /**
   * Names the function that is changed: a function, a method, a constant or a Python `def`. `outer.inner` names one inside another,
   * and `name()` a shell function inside a script, whose rest is `main`.
   */
  function: string;
  /** The text that is replaced. It occurs exactly once in the function. */
  find: string;
  replace: string;
  /** Integration tests, relative to test/integration, that run once all related unit tests have passed. */
  integration?: readonly string[];
}

/** A row of a table: `mutationsOf` adds the file. */
export type Row = Omit<Mutation, 'file'>;

/** Returns the mutations of one file. */
export const mutationsOf = (file: string, rows: readonly Row[]): Mutation[] =>
  rows.map((row) => ({ ...row, file }));
