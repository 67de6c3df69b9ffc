import { FORGET_NODE_ANNOTATION, PAUSED_ANNOTATION } from '../../../api/names.ts';
import type { SNAPSHOTS } from '../../../api/reasons/snapshots.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

const resume = (kind: string, name = ''): Fix => ({
  say: 'Once the reason for the pause is gone, remove the annotation.',
  run: [commandLine('kubectl', 'annotate', kind, name, `${PAUSED_ANNOTATION}-`)],
});

export const snapshots: Fixes<typeof SNAPSHOTS> = {
  ContentNoteLost: ({ content = '', uid = '' }) => ({
    say: 'If the copy is not needed, abandon it. Its file or logical volume stays on the node.',
    run: [
      commandLine(
        'kubectl',
        'annotate',
        'volumesnapshotcontent',
        content,
        `${FORGET_NODE_ANNOTATION}=${uid}`,
      ),
    ],
  }),
  SnapshotVolumePaused: ({ volume }) => resume('volume', volume),
  SnapshotNodePaused: ({ node }) => resume('node', node),
  ContentPaused: ({ content }) => resume('volumesnapshotcontent', content),
};
