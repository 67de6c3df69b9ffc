import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { LANES } from '../lanes/lanes.ts';

const STAGES = ['checks', 'unit', ...Object.keys(LANES)];

test('each script of package.json runs a file that exists, and lanes that exist', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>;
  };
  const faults = Object.entries(scripts).flatMap(([name, command]) => {
    const words = command.split(' ');
    const missing = words.filter(
      (word) => /^\w+\/.*\.(ts|mjs|sh)$/.test(word) && !existsSync(word),
    );
    // A caller's additional arguments are not lanes, whatever their names.
    const stages = words[1] === 'test/lanes/run.ts' ? words.slice(2) : ['--'];
    const end = stages.pop();
    if (end !== '--') return [`${name} does not end with --`];
    const unknown = stages.filter((stage) => !STAGES.includes(stage));
    return [...missing, ...unknown].map((word) => `${name}: there is no ${word}`);
  });
  expect(faults).toEqual([]);
});

test('each test command runs scripts/setup.sh first, except test:times', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>;
  };
  const commands = Object.keys(scripts).filter((name) => /^(check|test(:\w+)?)$/.test(name));
  const without = commands.filter((name) => scripts[`pre${name}`] !== 'sh scripts/setup.sh');
  expect(without).toEqual(['test:times']);
});
