import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { addGetCommand, nodeOption, selectorOption, sortOption } from '../lib/get-command.ts';
import { ATTACHMENT_NOUNS } from '../nouns.ts';

export default function getAttachments(get: Command, io: Io): void {
  addGetCommand(get, io, {
    nouns: ATTACHMENT_NOUNS,
    description: 'show where the devices of Volumes are, and which pods need them there',
    names: 'names of Volumes (default: all)',
    options: [
      nodeOption(),
      selectorOption('of Volumes with these labels'),
      sortOption('volume', 'node', 'state', 'age'),
    ],
    view: async () => (await import('../attachments/view.ts')).ATTACHMENT_VIEW,
  });
}
