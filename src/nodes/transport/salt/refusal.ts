import { NodeError } from '../../errors.ts';

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

  /** @param update how the module there is brought up to date */
  on(node: string, update: string): NodeError {
    const what = this.command === '' ? '' : ` '${this.command}'`;
    return new NodeError('refused', node, `node ${node} refuses${what}: ${this.message}`, {
      cause: this,
      hint: hintFor(this.reason, update),
    });
  }
}

/** For the module on a minion. */
export const syncOn = (minion: string): string =>
  `Copy salt/ of this Stowage to the salt-master, then: salt ${minion} saltutil.sync_modules`;

function hintFor(reason: string, update: string): string {
  const hint = HINTS.get(reason);
  if (hint === undefined) return update;
  return reason === 'command' ? `${hint} ${update}` : hint;
}

const HINTS = new Map([
  [
    'command',
    'What it may do is in /etc/stowage/allowed there: a line `directory PATH`, `device PATH` or `group NAME` (of LVM) allows more; docs/salt.md tells of logical volumes without a tag. If the program itself is new, salt/ there is older than this Stowage.',
  ],
  ['file', 'Root lists there what Stowage may work on: docs/salt.md shows it.'],
  [
    'node',
    'Another node is reached there, by its address or minion id, or /etc/stowage/allowed there has other names: a line `node NAME`.',
  ],
  [
    'jobs',
    'Log in as the user that jobs ran as before; or, once none of its jobs runs, remove that folder on the node.',
  ],
]);
