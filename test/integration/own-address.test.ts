import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { FETCH_FUNCTIONS } from '../../src/storage/populate/fetch-script.ts';
import { describeAsRoot } from '../support/root.ts';

describeAsRoot('a source at a public address', () => {
  test.each([
    ['8.8.4.4', 'own'],
    ['8.8.4.5', 'other'],
    ['2606:4700::1234', 'own'],
    ['2606:4700:0:0::1234', 'own'],
    ['2606:4700::1235', 'other'],
  ])('%s is looked for only where it is no address of the node: %s', async (address, whose) => {
    const script = `ip link set lo up && ip address add 8.8.4.4/32 dev lo && ip address add 2606:4700::1234/128 dev lo || exit 9
${FETCH_FUNCTIONS} configured() { :; }
if may_connect "$1"; then echo other; else echo own; fi`;
    const { stdout } = await execa('unshare', ['-n', 'sh', '-c', script, 'sh', address]);
    expect(stdout).toBe(whose);
  });
});
