import { expect, test } from '@jest/globals';
import { CRDS } from '../../src/api/crds.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { kubectlIn } from '../support/kubectl.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('kubectl explain shows fields of custom resources, but not of built-in kinds', async () => {
  const sandbox = await startSandbox({ crds: CRDS });
  const folder = await temporaryDirectory('kubectl');
  try {
    const { use, kubectl } = kubectlIn(folder.path);
    use(sandbox);
    expect((await kubectl('explain vol')).out).toContain('spec');
    for (const [name, kind] of [
      ['pod', 'Pod'],
      ['pvc', 'PersistentVolumeClaim'],
      ['sc', 'StorageClass'],
      ['lease', 'Lease'],
      ['deployment', 'Deployment'],
    ]) {
      const { out, exitCode } = await kubectl(`explain ${name}`);
      expect({ exitCode, out }).toMatchObject({ exitCode: 0 });
      expect(out.replaceAll(/\s+/g, ' ')).toContain(`ask a real cluster for those of ${kind}`);
    }
  } finally {
    await sandbox.stop();
    await folder.remove();
  }
});
