import type { ATTACHMENTS } from '../../../api/reasons/attachments.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fixes } from './types.ts';

export const attachments: Fixes<typeof ATTACHMENTS> = {
  OperationPaused: ({ kind }, { node, volume }) => ({
    say: 'End the pause once its reason is gone.',
    // Ignores the name in the status, which others may have written.
    run: [
      kind === 'Volume' && volume !== undefined
        ? resumeCommand('volume', volume.metadata.name)
        : resumeCommand('node', node),
    ],
  }),
  OperationQueued: () => ({
    say: 'Check what the running operations wait for: their number is limited per node and in total.',
    run: ['stowage get attachments -o wide'],
  }),
  OperationUnderWay: (_, { node }) => ({
    say: `Wait until it ends. If the step does not change, check what the processes on node ${node} wait for, such as an unresponsive file server.`,
    run: [onNode(node, 'ps', 'axl')],
  }),
  JobStillRuns: (_, { node }) => ({
    say: 'Check what the processes there wait for, such as an unresponsive file server.',
    run: [onNode(node, 'ps', 'axl')],
  }),
};
