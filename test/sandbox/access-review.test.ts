import { test } from '@jest/globals';
import { startSandbox } from '../../src/sandbox/server.ts';
import { kubectlIn } from '../support/kubectl.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('kubectl auth shows the user, and that nothing is refused', async () => {
  const sandbox = await startSandbox({ crds: [] });
  const folder = await temporaryDirectory('kubectl');
  try {
    const { use, expectOutput } = kubectlIn(folder.path);
    use(sandbox);
    await expectOutput('auth can-i create pods', 'yes');
    await expectOutput('auth can-i get pods/log --subresource log -n kube-system', /^yes$/m);
    await expectOutput('auth can-i get /healthz', 'yes');
    await expectOutput('auth whoami', /Username +stowage-sandbox/);
  } finally {
    await sandbox.stop();
    await folder.remove();
  }
});
