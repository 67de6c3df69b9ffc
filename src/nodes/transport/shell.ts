/** Transport of requests to nodes, in its own format. */
export interface NodeTransport<Asked, Answer> {
  /**
   * Runs a request on a node.
   * @returns the answer of the node
   * @throws NodeError if there was no answer within `timeoutMs`, or the node denied access
   */
  run(node: string, asked: Asked, timeoutMs: number): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Transport that makes `sh` read a script on a node, to its end. It returns the output with one
 * character for each byte, so that texts can be counted. A failed script is a NodeError too.
 */
export type Shell = NodeTransport<string, string>;
