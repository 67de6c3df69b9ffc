import { describe, expect, test } from '@jest/globals';
import { CONTROLLERS, selectControllers } from '../../src/api/controllers.ts';
import { normalizeArgv } from '../../src/cli/normalize-argv.ts';
import { createProgram } from '../../src/cli/program.ts';
import { checkMetricsPath, parseHttpAddress } from '../../src/manager/http-address.ts';
import { leaseName } from '../../src/manager/lease-name.ts';
import { fakeIo } from '../support/fake-io.ts';

const without = (one: string) => CONTROLLERS.filter((name) => name !== one);

describe('--controllers', () => {
  test.each([
    ['*', [...CONTROLLERS]],
    ['volume', ['volume']],
    ['leftover, volume', ['volume', 'leftover']],
    ['*,-leftover', without('leftover')],
    ['*,-attachment', without('attachment')],
    ['-leftover,*', without('leftover')],
    ['volume,-leftover', ['volume']],
    // The first mention counts, as in kube-controller-manager.
    ['*,volume,-volume', [...CONTROLLERS]],
  ])('%s runs %j', (list, names) => {
    expect([...selectControllers(list)]).toEqual(names);
  });

  test.each([
    ['attach', 'unknown controller "attach"', `Known controllers: ${CONTROLLERS.join(', ')}.`],
    [
      '*,-volumes',
      'unknown controller "-volumes"',
      `Known controllers: ${CONTROLLERS.join(', ')}.`,
    ],
    ['', 'unknown controller ""', `Known controllers: ${CONTROLLERS.join(', ')}.`],
    [
      '-volume',
      'no controller is enabled',
      'or use * for all: without it, only the named controllers run',
    ],
    [
      ['*', ...CONTROLLERS.map((name) => `-${name}`)].join(','),
      'no controller is enabled',
      `Known controllers: ${CONTROLLERS.join(', ')}.`,
    ],
  ])('%j is refused', (list, message, hint) => {
    expect(() => selectControllers(list)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }),
    );
  });
});

describe('--http-endpoint', () => {
  test.each([
    [':8080', undefined, 8080],
    [':0', undefined, 0],
    ['127.0.0.1:80', '127.0.0.1', 80],
    ['localhost:9000', 'localhost', 9000],
    ['[::1]:8080', '::1', 8080],
  ])('parses %s', (text, host, port) => {
    expect(parseHttpAddress(text)).toEqual({ text, host, port });
  });

  test.each([
    '',
    '8080',
    'host',
    ':port',
    ':65536',
    '::1:8080',
    'http://host:80',
    'a b:80',
    ':80/metrics',
  ])('%j is refused', (text) => {
    expect(() => parseHttpAddress(text)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringContaining(`--http-endpoint ${text}`),
      }),
    );
  });
});

test.each<[string[], boolean]>([
  [[], true],
  [['--cross-namespace-snapshot'], true],
  [['--cross-namespace-snapshot=true'], true],
  [['--cross-namespace-snapshot', 'true'], true],
  [['--cross-namespace-snapshot=false'], false],
])('watch %j: VolumeSnapshotLinks are followed: %j', async (flags, isFollowed) => {
  const program = createProgram(fakeIo().io);
  const command = program.commands.find((each) => each.name() === 'watch');
  let found: object | undefined;
  command?.action(() => {
    found = command.opts();
  });
  await program.parseAsync(normalizeArgv(['watch', ...flags], program), { from: 'user' });
  expect(found).toMatchObject({ crossNamespaceSnapshot: isFollowed });
});

test('--metrics-path must be an absolute path that is not in use', () => {
  expect(checkMetricsPath('/a/metrics')).toBe('/a/metrics');
  for (const path of ['metrics', '/a b', '/a?b', '/healthz', '/readyz', '']) {
    expect(() => checkMetricsPath(path)).toThrow(expect.objectContaining({ code: 'usage' }));
  }
});

test('the name of the Lease is stowage, or derived from the local nodes', () => {
  expect(leaseName([])).toBe('stowage');
  expect(leaseName(['n2', 'n1'])).toBe('stowage-n1-n2');
  expect(leaseName(['n1'])).not.toBe(leaseName(['n2']));
  const many = Array.from({ length: 50 }, (_, index) => `node-number-${index}`);
  expect(leaseName(many)).toMatch(/^stowage-[0-9a-f]{64}$/);
  expect(leaseName(many)).not.toBe(leaseName(many.slice(1)));
});
