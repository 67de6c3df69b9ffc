import { describe, expect, test } from '@jest/globals';
import { pagePaths } from '../support/documents/page.ts';
import { STORIES, takesNode } from '../support/documents/stories.ts';
import { describeStory, expectAllCovered } from '../support/documents/story.ts';
import { EVERY_CASE } from '../support/lane.ts';

/**
 * Commands and manifests of the pages. Stories must cover all of them, and nothing else. A page,
 * command or block without a row fails: add one in test/support/documents/stories.
 * docs-node.test.ts runs the stories that need a node.
 */

test('every page has stories, and every story a page', () => {
  const told = [...new Set(STORIES.map(({ path }) => path))];
  expect(told.sort()).toEqual(pagePaths());
});

describe.each(pagePaths())('%s', (path) => {
  test('stories cover exactly its commands and manifests', () => expectAllCovered(path, STORIES));
});

/**
 * Reports whether a page's commands run: `npm test` runs those of the README, `npm run test:all`
 * those of every page.
 */
const typed = (path: string) => EVERY_CASE || path === 'README.md';

for (const [index, story] of STORIES.entries()) {
  if (typed(story.path) && !takesNode(story)) describeStory(story, `as its story ${index}`);
}
