import type { Command } from 'commander';
import {
  addGetCommand,
  type GetKind,
  nodeOption,
  selectorOption,
  sortOption,
} from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { ATTACHMENT_NAMES } from '../lib/resource-names.ts';

export default function getAttachments(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: ATTACHMENT_NAMES,
    description: 'list the nodes that Volumes are attached to, and the pods that need them there',
    names: 'names of Volumes (default: all)',
    examples: ['stowage get attachments', 'stowage get attachments --node n1 -o wide'],
    options: [
      nodeOption(),
      selectorOption('labels of the Volumes'),
      sortOption('volume', 'node', 'state', 'age'),
    ],
    view: async () => (await import('../volume/attachments/view.ts')).ATTACHMENT_VIEW,
  });
}
