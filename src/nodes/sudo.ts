import { refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';

/** Error for a program that sudo did not let the user run on a node. */
export class SudoRefusal extends Error {
  override readonly name = 'SudoRefusal';

  readonly user: string;
  /** Command with its arguments, which matter to sudo. */
  readonly command: string;
  readonly output: string;

  constructor(user: string, command: string, output: string) {
    super(`sudo does not let ${user} run ${command}`);
    this.user = user;
    this.command = command;
    this.output = output;
  }

  on(node: string): NodeError {
    // Beginnings of lines of sudo 1.9, and its message about a user without rights.
    const lines = this.output.split('\n').filter((line) => /sudo|sorry/i.test(line));
    const { user, command } = this;
    const output = lines.length === 0 ? undefined : lines.join('; ');
    return nodeError(
      'refused',
      node,
      refuse('SudoRefused', { node, user, command, said: output }),
      this,
    );
  }
}
