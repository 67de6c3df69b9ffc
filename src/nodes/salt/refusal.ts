import { NodeError } from '../errors.ts';

/** The module is there and does not do it: by the node's own list, or because it is not for this node. */
export class ModuleRefusal extends Error {
  override readonly name = 'ModuleRefusal';

  readonly reason: string;
  readonly command: string;

  constructor(reason: string, found: string, command: string) {
    super(found);
    this.reason = reason;
    this.command = command;
  }

  on(node: string): NodeError {
    const what = this.command === '' ? '' : ` '${this.command}'`;
    return new NodeError('refused', node, `node ${node} refuses${what}: ${this.message}`, {
      cause: this,
      hint: HINTS.get(this.reason) ?? UPDATE,
    });
  }
}

const UPDATE = 'Copy salt/ of this Stowage to the salt-master, then: salt MINION saltutil.sync_modules';

const HINTS = new Map([
  [
    'command',
    'What it may do is in /etc/stowage/allowed there: a line `directory PATH` or `device PATH` allows more. If the program itself is new, salt/ there is older than this Stowage: salt MINION saltutil.sync_modules.',
  ],
  ['file', 'Root lists there what Stowage may work on: docs/salt.md shows it.'],
  [
    'node',
    'Another node has that minion id, or /etc/stowage/allowed there has other names: a line `node NAME`.',
  ],
  [
    'jobs',
    'Log in as the user that jobs ran as before; or, once none of its jobs runs, remove that folder on the node.',
  ],
]);
