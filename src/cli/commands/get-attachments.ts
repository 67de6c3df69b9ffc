import type { Command } from 'commander';
import { addGetCommand, nodeOption, selectorOption, sortOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { ATTACHMENT_NAMES } from '../lib/resource-names.ts';

export default function getAttachments(get: Command, io: Io): void {
  addGetCommand(get, io, {
    nouns: ATTACHMENT_NAMES,
    description: 'show where the devices of Volumes are, and which pods need them there',
    names: 'names of Volumes (default: all)',
    options: [
      nodeOption(),
      selectorOption('of Volumes with these labels'),
      sortOption('volume', 'node', 'state', 'age'),
    ],
    view: async () => (await import('../volume/attachments/view.ts')).ATTACHMENT_VIEW,
  });
}
