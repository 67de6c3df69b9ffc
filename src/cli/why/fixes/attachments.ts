import { PAUSED_ANNOTATION } from '../../../api/names.ts';
import type { ATTACHMENTS } from '../../../api/reasons/attachments.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fixes } from './types.ts';

export const attachments: Fixes<typeof ATTACHMENTS> = {
  OperationPaused: ({ kind }, { node, volume }) => ({
    say: 'Take the annotation off when the reason for it is gone.',
    // Ignores the name in the status, which others may have written.
    run: [
      kind === 'Volume' && volume !== undefined
        ? unpause('volume', volume.metadata.name)
        : unpause('node', node),
    ],
  }),
  OperationQueued: () => ({
    say: 'See what the others wait for: so many are attached, and detached, at once on a node and in all.',
    run: ['stowage get attachments -o wide'],
  }),
  OperationUnderWay: (_, { node }) => ({
    say: `Let it end. If it stays at that step, see what the programs on node ${node} wait for, such as a file server that does not answer.`,
    run: [onNode(node, 'ps', 'axl')],
  }),
  JobStillRuns: (_, { node }) => ({
    say: 'See what the programs there wait for, such as a file server that does not answer.',
    run: [onNode(node, 'ps', 'axl')],
  }),
};

const unpause = (kind: string, name: string): string =>
  commandLine('kubectl', 'annotate', kind, name, `${PAUSED_ANNOTATION}-`);
