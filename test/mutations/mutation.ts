/** A change to the code that breaks an invariant of docs/design.md, so that some test must fail. */
export interface Mutation {
  /** Names the mutation in results and on the command line. */
  id: string;
  /** The number of the invariant that the change breaks, as docs/design.md counts them. */
  invariant: number;
  /** States the break in one short sentence. */
  breaks: string;
  /** The file that is changed, relative to the checkout. */
  file: string;
  /**
   * Names the changed function: a function, a method, a constant or a Python `def`. `outer.inner`
   * names a nested one. `name()` is a shell function in a script, and `main` the rest of the
   * script.
   */
  function: string;
  /** The text that is replaced. It occurs exactly once in the function. */
  find: string;
  replace: string;
  /**
   * Integration tests, relative to test/integration, that run once all related unit tests have
   * passed.
   */
  integration?: readonly string[];
}

/** A row of a table: `mutationsOf` adds the file. */
export type Row = Omit<Mutation, 'file'>;

/** Returns the mutations of one file. */
export const mutationsOf = (file: string, rows: readonly Row[]): Mutation[] =>
  rows.map((row) => ({ ...row, file }));
