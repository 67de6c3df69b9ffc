import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { SCRIPT_FILES } from '../../support/other-script.ts';

/**
 * Reports whether the script connects to an address, on a node that lists `allowed`.
 * @param before text of the script after its functions are read
 */
async function connects(address: string, allowed = '', before = ''): Promise<boolean> {
  const script = `. ./fetch.sh; listed=$2; configured() { printf "%s\n" "$listed"; }; ${before} if may_connect "$1"; then echo yes; else echo no; fi`;
  const { stdout } = await execa('/bin/sh', ['-c', script, 'sh', address, allowed], {
    cwd: SCRIPT_FILES,
  });
  return stdout === 'yes';
}

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '192.0.1.1',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  // Through NAT64: 8.8.8.8.
  '64:ff9b::808:808',
  '64:ff9b::8.8.8.8',
  '64:FF9B:0:0:0:0:808:808',
])('%s is public', async (address) => {
  expect(await connects(address)).toBe(true);
});

test.each([
  ['this network', '0.0.0.0'],
  ['a private network', '10.0.0.1'],
  ['a private network', '172.16.0.1'],
  ['a private network', '172.31.255.255'],
  ['a private network', '192.168.1.1'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['loopback', '::1'],
  ['shared addresses of providers, and of Alibaba’s metadata', '100.100.100.200'],
  ['the metadata of most clouds', '169.254.169.254'],
  ['the metadata of Oracle', '192.0.0.192'],
  ['the wire server of Azure', '168.63.129.16'],
  ['the metadata of Amazon', 'fd00:ec2::254'],
  ['unique local', 'fc00::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%lo'],
  ['v4 inside v6', '::ffff:169.254.169.254'],
  ['public v4 inside v6', '::ffff:8.8.8.8'],
  ['v4 inside v6, deprecated', '::10.0.0.1'],
  ['NAT64 to the metadata of most clouds', '64:ff9b::a9fe:a9fe'],
  ['NAT64 to a private network', '64:ff9b::10.0.0.1'],
  ['NAT64 to this network', '64:ff9b::'],
  ['NAT64 of a network, to public v4', '64:ff9b:1::808:808'],
  ['an address beside the prefix of NAT64', '64:ff9b::1:808:808'],
  ['6to4', '2002:a00:1::1'],
  ['Teredo', '2001:0:a00::1'],
  ['benchmarks', '198.18.0.1'],
  ['documentation', '203.0.113.1'],
  ['documentation', '2001:db8::1'],
  ['multicast', '224.0.0.1'],
  ['multicast', 'ff02::1'],
  ['reserved', '255.255.255.255'],
])('%s is not public: %s', async (_, address) => {
  expect(await connects(address)).toBe(false);
});

test('the script connects to private addresses that the node lists', async () => {
  expect(await connects('10.1.2.3', '10.1.0.0/16')).toBe(true);
  expect(await connects('10.2.2.3', '10.1.0.0/16')).toBe(false);
  expect(await connects('fd00::5', '192.168.0.0/16\nfd00::/64')).toBe(true);
  expect(await connects('127.0.0.1', '127.0.0.1')).toBe(true);
});

test('an address of NAT64 is private if it, or the IPv4 address in it, is of the node', async () => {
  const own = (networks: string) =>
    `local_networks() { case $1 in *:*) ${networks} ;; *) echo 8.8.4.4/32 ;; esac; };`;
  const none = own(':');
  const gateway = own('echo 0064:ff9b:0000:0000:0000:0000:0808:0808/0x80');
  expect(await connects('64:ff9b::808:808', '', none)).toBe(true);
  expect(await connects('64:ff9b::808:404', '', none)).toBe(false);
  expect(await connects('64:ff9b::808:808', '', gateway)).toBe(false);
  expect(await connects('64:ff9b::808:807', '', gateway)).toBe(true);
});

test('behind NAT64, the IPv4 address has to be listed, and not the prefix', async () => {
  expect(await connects('64:ff9b::a01:203', '10.1.0.0/16')).toBe(true);
  expect(await connects('64:ff9b::a01:203', '64:ff9b::/96')).toBe(false);
  expect(await connects('64:ff9b:1::a01:203', '64:ff9b:1::/96')).toBe(true);
});
