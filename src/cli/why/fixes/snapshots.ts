import { FORGET_NODE_ANNOTATION } from '../../../api/names.ts';
import type { SNAPSHOTS } from '../../../api/reasons/snapshots.ts';
import { resumeCommand } from '../../../model/pause.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

const resume = (run: string): Fix => ({
  say: 'End the pause once its reason is gone.',
  run: [run],
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
  SnapshotVolumePaused: ({ volume = '' }) => resume(resumeCommand('volume', volume)),
  SnapshotNodePaused: ({ node = '' }) => resume(resumeCommand('node', node)),
  ContentPaused: ({ content = '' }) => resume(resumeCommand('volumesnapshotcontent', content)),
};
