import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { describeAsRoot } from '../support/root.ts';

describeAsRoot('a source at a public address', () => {
  test.each([
    ['8.8.4.4', 'own'],
    ['8.8.4.5', 'other'],
    ['64:ff9b::808:404', 'own'],
    ['64:ff9b::808:405', 'other'],
    ['64:ff9b::808:406', 'own'],
    ['2606:4700::1234', 'own'],
    ['2606:4700:0:0::1234', 'own'],
    ['2606:4700::1235', 'other'],
    ['8.8.9.9', 'own'],
    ['8.8.10.9', 'other'],
    ['9.9.9.9', 'own'],
    ['2606:4700:9::9', 'own'],
    ['2606:4700:9::8', 'other'],
    ['2606:4700:1:ffff::1', 'own'],
    ['2606:4700:2::1', 'other'],
    ['2606:4700:ab00::1', 'other'],
  ])('%s may be contacted only if it is no address of the node: %s', async (address, whose) => {
    const script = `set -e
ip link set lo up
ip address add 8.8.4.4/32 dev lo
ip address add 2606:4700::1234/128 dev lo
ip address add 64:ff9b::808:406/128 dev lo
ip route add local 8.8.9.0/24 dev lo
ip route add local 9.9.9.9/32 dev lo table 7
ip -6 route add local 2606:4700:9::9/128 dev lo
ip -6 route add local 2606:4700:1::/48 dev lo
ip -6 route add 2606:4700:ab00::/40 dev lo
ip route add local default dev lo table 2004
ip -6 route add local default dev lo table 2004
set +e
cd src/storage/scripts
. ./fetch.sh
configured() { :; }
if may_connect "$1"; then echo other; else echo own; fi`;
    const { stdout } = await execa('unshare', ['-n', 'sh', '-c', script, 'sh', address]);
    expect(stdout).toBe(whose);
  });
});
