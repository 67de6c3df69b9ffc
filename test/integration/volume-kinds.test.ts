import { startSshd } from '../support/sshd.ts';
import { volumeCases } from '../support/volume-cases.ts';

volumeCases('ssh', async () => {
  const sshd = await startSshd({ nodes: ['n1'] });
  return { flags: ['--transport', 'ssh', '--ssh-config', sshd.configFile], stop: sshd.stop };
});

// Only `npm run test:faults` has the time for this. Tests of the executor cover the differences.
if (process.env.STOWAGE_FAULTS !== undefined) {
  volumeCases('local', async () => ({
    flags: ['--transport', 'local', '--local-node', 'n1'],
    async stop() {},
  }));
}
