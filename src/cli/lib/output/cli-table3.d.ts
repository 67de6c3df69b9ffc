/** Its own types leave this file out. */
declare module 'cli-table3/src/utils.js' {
  const utils: {
    /** The columns of a terminal that the widest line takes. */
    strlen(text: string): number;
  };
  export default utils;
}
