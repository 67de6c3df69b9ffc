import { expect, test } from '@jest/globals';
import { resumeCommand } from '../../src/model/pause.ts';

test.each([
  ['Volume', 'data1', 'stowage resume volume data1'],
  ['node', 'n1', 'stowage resume node n1'],
  ['Leftover', 'c0ffee', 'kubectl annotate leftover c0ffee stowage.dev/paused-'],
  ['Volume', '$(reboot)', "stowage resume volume '$(reboot)'"],
])('a paused %s is resumed by a command: %s', (kind, name, command) => {
  expect(resumeCommand(kind, name)).toBe(command);
});
