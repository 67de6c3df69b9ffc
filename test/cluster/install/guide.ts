import { readFile } from 'node:fs/promises';

const FENCE = /^```(\w*)\n(.*?)^```$/gms;

/** What docs/installing.md tells to type and to write, by its headings. */
export interface Guide {
  /** The commands of the section with that heading, in their order. Throws where there are none. */
  commands(heading: string): string[];
  /** Its blocks of a language: `yaml`, `sshconfig`. */
  blocks(heading: string, language: string): string[];
}

export async function readGuide(): Promise<Guide> {
  const text = await readFile('docs/installing.md', 'utf8');
  const section = (heading: string): string => {
    const found = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
    if (found === undefined) throw new Error(`docs/installing.md has no section "${heading}"`);
    return found;
  };
  const blocks = (heading: string, language: string): string[] =>
    [...section(heading).matchAll(FENCE)].flatMap(([, is, block = '']) =>
      is === language ? [block] : [],
    );
  return {
    blocks,
    commands(heading) {
      const lines = blocks(heading, '').flatMap((block) => block.trim().split('\n'));
      if (lines.length === 0)
        throw new Error(`the section "${heading}" of docs/installing.md has no command`);
      return lines;
    },
  };
}
