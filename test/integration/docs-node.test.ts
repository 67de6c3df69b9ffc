import { STORIES, takesNode } from '../support/documents/stories.ts';
import { describeStory } from '../support/documents/story.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot } from '../support/root.ts';

/**
 * Commands of pages that need a daemon with a node: this machine, with its loop devices, over ssh.
 */
describeAsRoot('pages that need a node', () => {
  for (const [index, story] of STORIES.entries()) {
    if (takesNode(story) && (EVERY_CASE || story.path === 'README.md'))
      describeStory(story, `as its story ${index}`);
  }
});
