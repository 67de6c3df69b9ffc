import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VERSION } from '../../src/api/version.ts';

const CHANGELOG = readFileSync('CHANGELOG.md', 'utf8');

test('the newest version of the changelog is that of the program', () => {
  const [, newest] = /^<!-- releases -->\n+## (\d+\.\d+\.\d+)(?: \(.*\))?$/m.exec(CHANGELOG) ?? [];
  expect(newest).toBe(VERSION);
});

test('each note of a change is of a kind, and becomes an item of a list', () => {
  const config = readFileSync('towncrier.toml', 'utf8');
  const kinds = [...config.matchAll(/^directory = "(\w+)"\nname/gm)].map(([, kind]) => kind);
  expect(kinds).toContain('security');
  const name = new RegExp(`^[a-z0-9-]+\\.(${kinds.join('|')})\\.md$`);
  const notes = readdirSync('changes').filter((file) => file !== 'template.md');
  expect(notes.filter((file) => !name.test(file))).toEqual([]);
  const texts = notes.map((file) => readFileSync(join('changes', file), 'utf8'));
  expect(texts.filter((text) => !/^[^\s#-]/.test(text) || /^.{99}/m.test(text))).toEqual([]);
});
