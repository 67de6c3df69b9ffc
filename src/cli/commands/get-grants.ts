import type { Command } from 'commander';
import {
  addGetCommand,
  allNamespacesOption,
  type GetKind,
  selectorOption,
} from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { GRANT_NAMES } from '../lib/resource-names.ts';

export default function getGrants(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: GRANT_NAMES,
    description:
      'list which namespaces may use snapshots of a namespace, and which claims and links do',
    names: 'names of ReferenceGrants (default: all for snapshots)',
    examples: ['stowage get grants -n prod'],
    options: [allNamespacesOption(), selectorOption()],
    view: async () => (await import('../grants/view.ts')).GRANT_VIEW,
  });
}
