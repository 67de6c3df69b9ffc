import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { addGetCommand, allNamespacesOption, selectorOption } from '../lib/get-command.ts';
import { GRANT_NOUNS } from '../nouns.ts';

export default function getGrants(get: Command, io: Io): void {
  addGetCommand(get, io, {
    nouns: GRANT_NOUNS,
    description:
      'show which namespaces may use snapshots of a namespace, and which claims and links do',
    names: 'names of ReferenceGrants (default: all about snapshots)',
    options: [allNamespacesOption(), selectorOption()],
    view: async () => (await import('../grants/view.ts')).GRANT_VIEW,
  });
}
