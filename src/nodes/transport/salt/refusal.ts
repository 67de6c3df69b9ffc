import { type Refused, refuse } from '../../../api/reasons.ts';
import { type NodeError, nodeError } from '../../errors.ts';

/** The place of the module, by which it is brought up to date: on a minion, or as a page of docs/ tells. */
export type ModulePlace = { minion: string } | { page: string };

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

  on(node: string, place: ModulePlace): NodeError {
    return nodeError('refused', node, this.#why(node, place), this);
  }

  #why(node: string, place: ModulePlace): Refused {
    const found = this.message;
    const command = this.command || undefined;
    switch (this.reason) {
      case 'version':
        return refuse('ModuleVersionOther', { node, found, ...place });
      case 'command':
        return refuse('CommandNotListed', { node, found, command, ...place });
      case 'file':
        return refuse('AllowedListInvalid', { node, found });
      case 'node':
        return refuse('NodeNotListed', { node, found });
      case 'jobs':
        return refuse('ModuleJobsForeign', { node, found });
      // Of a later version.
      default:
        return refuse('ModuleRefused', { node, found, command, ...place });
    }
  }
}
