import { expect, test } from '@jest/globals';
import { createOperations, OperationPending } from '../../src/control/operations.ts';

test('a volume has one operation at a time, others go on', async () => {
  const operations = createOperations();
  let finish: (value: string) => void = () => {};
  const first = operations.run('a', 'Prepare', () => new Promise<string>((resolve) => (finish = resolve)));
  expect(operations.pending('a')).toBe('Prepare');
  await expect(operations.run('a', 'Delete', async () => 1)).rejects.toThrow(OperationPending);
  await expect(operations.run('a', 'Delete', async () => 1)).rejects.toMatchObject({ pending: 'Prepare' });
  expect(await operations.run('b', 'Delete', async () => 2)).toBe(2);
  finish('done');
  expect([await first, operations.pending('a')]).toEqual(['done', undefined]);
});

test('an operation that fails ends too', async () => {
  const operations = createOperations();
  await expect(operations.run('a', 'x', () => Promise.reject(new Error('boom')))).rejects.toThrow('boom');
  await expect(
    operations.run('a', 'y', () => {
      throw new Error('at once');
    }),
  ).rejects.toThrow('at once');
  expect(await operations.run('a', 'z', async () => 3)).toBe(3);
});
