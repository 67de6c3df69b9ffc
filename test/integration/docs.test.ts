import { describe, expect, test } from '@jest/globals';
import { pagePaths } from '../support/documents/page.ts';
import { STORIES, takesNode } from '../support/documents/stories.ts';
import { describeStory, expectAllTold } from '../support/documents/story.ts';
import { EVERY_CASE } from '../support/lane.ts';

/**
 * What pages tell people to type, and to apply: all of it, and nothing that is not on them any more. A page, a command or a
 * block without a row fails: give it one in test/support/documents/stories. Those that need a node are in docs-node.test.ts.
 */

test('every page has its rows, and every row its page', () => {
  const told = [...new Set(STORIES.map(({ path }) => path))];
  expect(told.sort()).toEqual(pagePaths());
});

describe.each(pagePaths())('%s', (path) => {
  test('all that it tells to type is typed', () => expectAllTold(path, STORIES));
});

/** `npm test` types the README; `npm run test:all` types every page. */
const typed = (path: string) => EVERY_CASE || path === 'README.md';

for (const [index, story] of STORIES.entries()) {
  if (typed(story.path) && !takesNode(story)) describeStory(story, `as its story ${index}`);
}
