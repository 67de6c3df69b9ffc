import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { readBlocks } from '../support/documents/page.ts';

const DIFFS = readBlocks('docs/extending.md').filter(({ language }) => language === 'diff');

test.each(DIFFS.map(({ heading, body }) => [heading, body]))(
  'the diff of "%s" applies to this checkout, and is short',
  async (_heading, body) => {
    expect(body.trimEnd().split('\n').length).toBeLessThan(40);
    await execa('git', ['apply', '--check'], { input: body });
  },
);
