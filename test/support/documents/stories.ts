import { CLAIM_STORIES } from './stories/claims.ts';
import { EXPLAINING_STORIES } from './stories/explaining.ts';
import { INSTALLING_STORIES } from './stories/installing.ts';
import { NODE_STORIES } from './stories/nodes.ts';
import { OPERATING_STORIES } from './stories/operating.ts';
import { OTHER_STORIES } from './stories/others.ts';
import { README_STORIES } from './stories/readme.ts';
import { SHELL_STORIES } from './stories/shells.ts';
import type { Story } from './story.ts';
import { withNode } from './worlds.ts';

export const STORIES: readonly Story[] = [
  ...README_STORIES,
  ...CLAIM_STORIES,
  ...NODE_STORIES,
  ...INSTALLING_STORIES,
  ...SHELL_STORIES,
  ...EXPLAINING_STORIES,
  ...OPERATING_STORIES,
  ...OTHER_STORIES,
];

export const takesNode = ({ world }: Story): boolean => world === withNode;
