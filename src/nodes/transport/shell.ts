/** A way to have something done on a node, by a transport's own words. */
export interface NodeTransport<Asked, Answer> {
  /**
   * @returns what the node answered
   * @throws NodeError when there was no answer within `timeoutMs`, or the node did not let us in
   */
  run(node: string, asked: Asked, timeoutMs: number): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * A way to have `sh` read a script on a node, to its end, and to have what it printed, a character for each byte: so texts can be
 * counted. A script that fails is a NodeError, too.
 */
export type Shell = NodeTransport<string, string>;
