import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { SCRIPT_FILES } from '../support/other-script.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describeAsRoot('the namespace of a population or a backup', () => {
  test('ends even if its first process waits to open a FIFO whose reader was killed', async () => {
    const folder = await temporaryDirectory('namespace');
    const script = `. ./fill-namespace.sh; work=$1; mkfifo "$work/body"; while sleep 0.2; do end_all; done & exec 8>"$work/body"; echo opened`;
    const words = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const inside = execa('unshare', [...words, 'sh', '-c', script, 'inside', folder.path], {
      ...{ cwd: SCRIPT_FILES, reject: false, timeout: 120_000 },
    });
    expect((await inside).stdout).toBe('opened');
    await folder.remove();
  });
});
