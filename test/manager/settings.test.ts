import { expect, test } from '@jest/globals';
import { createLiveSettings, type Settings } from '../../src/manager/settings.ts';

const first: Settings = {
  transport: 'local',
  localNodes: ['n1'],
  sshConfig: undefined,
  salt: undefined,
  workers: 1,
  retry: { startMs: 1, maxMs: 2 },
  minions: new Map(),
  addresses: new Map([['n1', { host: '10.0.0.1' }]]),
};

test('replace() also changes settings that were handed out before', () => {
  const live = createLiveSettings(first);
  const { retry, addressOf } = live;
  expect([retry.startMs, retry.maxMs, addressOf('n1'), addressOf('n2')]).toEqual([
    1,
    2,
    { host: '10.0.0.1' },
    {},
  ]);
  live.replace({
    ...first,
    sshConfig: '/ssh',
    workers: 7,
    retry: { startMs: 3, maxMs: 4 },
    addresses: new Map([['n2', { port: 5 }]]),
  });
  expect([retry.startMs, retry.maxMs]).toEqual([3, 4]);
  expect(addressOf('n1')).toEqual({ configFile: '/ssh' });
  expect(addressOf('n2')).toEqual({ configFile: '/ssh', port: 5 });
  expect(live.now().workers).toBe(7);
});

test('another transport or other local nodes require a restart', () => {
  const live = createLiveSettings(first);
  for (const other of [
    { localNodes: ['n2'] },
    { transport: 'ssh', localNodes: [] },
  ] as Partial<Settings>[]) {
    expect(() => live.replace({ ...first, ...other, workers: 9 })).toThrow(
      expect.objectContaining({ hint: 'Restart the daemon to apply them.' }),
    );
  }
  expect(live.now()).toBe(first);
});
