import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { COLUMNS, terminalSvg } from '../../scripts/terminal-svg.ts';
import { describeAsRoot } from '../support/root.ts';

/**
 * Returns the text of a picture without differences between runs: times, ages and numbers of loop
 * devices.
 */
const steadyText = (picture: string): string =>
  [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)]
    .map(([, row = '']) => row.replaceAll(/\b\d+s\b/g, '0s'))
    .join('')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/loop\d+(?:&#160;|\u00a0)*/g, 'loopN ');

describeAsRoot('the picture in the README', () => {
  test('shows what the commands in it print', async () => {
    const { stdout } = await execa('node', ['scripts/picture.ts', '--print']);
    const picture = await readFile('docs/terminal.svg', 'utf8');
    expect(steadyText(terminalSvg(stdout, COLUMNS))).toBe(steadyText(picture));
  }, 120_000);
});
