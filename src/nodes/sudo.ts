import { NodeError } from './errors.ts';

/** sudo did not let the user run a program on a node. */
export class SudoRefusal extends Error {
  override readonly name = 'SudoRefusal';

  readonly user: string;
  /** With its arguments: those matter to sudo. */
  readonly command: string;
  readonly said: string;

  constructor(user: string, command: string, said: string) {
    super(`sudo does not let ${user} run ${command}`);
    this.user = user;
    this.command = command;
    this.said = said;
  }

  on(node: string): NodeError {
    const lines = this.said.split('\n').filter((line) => /sudo|sorry/i.test(line));
    const said = lines.length === 0 ? '' : `: ${lines.join('; ')}`;
    return new NodeError(
      'refused',
      node,
      `node ${node}: sudo does not let user ${this.user} run '${this.command}' as root without a password${said}`,
      {
        cause: this,
        hint: `Allow it in /etc/sudoers.d on the node, with NOPASSWD: 'stowage print sudoers' writes what a node needs. 'sudo -n -l' there, as ${this.user}, lists what is allowed.`,
      },
    );
  }
}
