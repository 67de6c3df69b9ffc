import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { COLUMNS, terminalSvg } from '../../scripts/terminal-svg.ts';
import { describeAsRoot } from '../support/root.ts';

/** Replaces what differs between runs: UUIDs, times, ages and numbers of loop devices. */
const steady = (picture: string): string =>
  picture
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+s\b/g, '0s')
    .replaceAll(/loop\d+(?:&#160;|\u00a0)*/g, 'loopN ');

describeAsRoot('the picture in the README', () => {
  test('shows what the commands in it print', async () => {
    const { stdout } = await execa('node', ['scripts/picture.ts', '--print']);
    const picture = await readFile('docs/terminal.svg', 'utf8');
    expect(steady(terminalSvg(stdout, COLUMNS))).toBe(steady(picture));
  }, 120_000);
});
