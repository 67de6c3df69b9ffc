import { readBlocks } from '../../support/documents/page.ts';

/** Commands and files of docs/installing.md that its reader types and writes, by heading. */
export interface Guide {
  /** Returns the commands below that heading, in order. Throws if there are none. */
  commands(heading: string): string[];
  /** Returns the blocks below that heading of a language: `yaml`, `sshconfig`. */
  blocks(heading: string, language: string): string[];
}

export function readGuide(): Guide {
  const all = readBlocks('docs/installing.md');
  const blocks = (heading: string, language: string): string[] =>
    all
      .filter((each) => each.heading === heading && each.language === language)
      .map(({ body }) => body);
  return {
    blocks,
    commands(heading) {
      const lines = blocks(heading, '').flatMap((block) => block.trim().split('\n'));
      if (lines.length === 0)
        throw new Error(`docs/installing.md has no command below "${heading}"`);
      return lines;
    },
  };
}
