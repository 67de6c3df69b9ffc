import { type Refused, refuse } from '../../../api/reasons.ts';
import { type NodeError, nodeError } from '../../errors.ts';

/** Place of the module, for its update: on a minion, or as a page of docs/ describes. */
export type ModulePlace = { minion: string } | { page: string };

/**
 * Error for a request that the module refuses: by the node's own list, or because the module is not
 * for this node.
 */
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
      // A reason of a later version.
      default:
        return refuse('ModuleRefused', { node, found, command, ...place });
    }
  }
}
