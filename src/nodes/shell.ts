/** A way to have `sh` read a script on a node. Transports differ in nothing else. */
export interface Shell {
  /**
   * Runs a script to its end.
   * @returns what it printed
   * @throws NodeError when there was no answer within `timeoutMs`, or the node did not let us in, or sh failed
   */
  run(node: string, script: string, timeoutMs: number): Promise<string>;
  close(): Promise<void>;
}
