import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { ProbeResult } from '../../src/nodes/job.ts';
import { earlierProbe, readEarlier } from '../../src/storage/records.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { UID } from '../support/volume-input.ts';

const OTHER = '00000000-0000-4000-8000-00000000000b';
const FOLDER = '/var/lib/stowage/volumes';
const said = (exit: number, stdout: string, stderr = ''): ProbeResult => ({ exit, stdout, stderr });

describe('the records of an earlier Volume with the same name', () => {
  test.each<[string, ProbeResult, string[]]>([
    ['none', said(1, ''), []],
    ['its own', said(0, `${FOLDER}/${UID}.intent\n`), []],
    [
      'its own and another',
      said(0, `${FOLDER}/${UID}.intent\n${FOLDER}/${OTHER}.done\n`),
      [`${OTHER}.done`],
    ],
    ['no directory of records', said(2, '', `grep: ${FOLDER}: No such file or directory\n`), []],
  ])('exclude the Volume’s own: %s', (_what, result, names) => {
    expect(readEarlier(UID, result)).toEqual(names);
  });

  test('cause an error if they cannot be read', () => {
    const result = said(2, `${FOLDER}/${UID}.intent\n`, `grep: ${FOLDER}/x: Input/output error\n`);
    expect(() => readEarlier(UID, result)).toThrow('Input/output error');
  });

  test('are found by the real grep(1)', async () => {
    const folder = await temporaryDirectory('records');
    try {
      const argv = earlierProbe(`pvc-${OTHER}`).argv.map((word) =>
        word === FOLDER ? folder.path : word,
      );
      const look = async (): Promise<ProbeResult> => {
        const {
          exitCode = -1,
          stdout,
          stderr,
        } = await execa(argv[0] ?? '', argv.slice(1), { reject: false });
        return { exit: exitCode, stdout, stderr };
      };
      expect(readEarlier(UID, await look())).toEqual([]);
      await writeFile(`${folder.path}/${OTHER}.intent`, JSON.stringify({ once: `pvc-${OTHER}` }));
      await writeFile(`${folder.path}/${UID}.intent`, JSON.stringify({ once: `pvc-${UID}` }));
      expect(readEarlier(UID, await look())).toEqual([`${OTHER}.intent`]);
    } finally {
      await folder.remove();
    }
  });
});
