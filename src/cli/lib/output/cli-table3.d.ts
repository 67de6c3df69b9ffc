/** cli-table3's own types leave this file out. */
declare module 'cli-table3/src/utils.js' {
  const utils: {
    /** Returns the columns of a terminal that the widest line takes. */
    strlen(text: string): number;
  };
  export default utils;
}
