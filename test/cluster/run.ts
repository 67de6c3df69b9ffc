import { once } from 'node:events';
import { startControlPlane } from './control-plane/control-plane.ts';
import { buildPrograms } from './control-plane/programs.ts';
import { installSalt } from './salt/install.ts';
import { image } from './vm/image.ts';

const USAGE = `npm run cluster -- up      a real control plane that runs until Ctrl-C; prints its kubeconfig
npm run cluster -- build   builds what the cluster tests need into the cache
`;

const commands: Record<string, () => Promise<void>> = {
  async build() {
    await buildPrograms();
    await installSalt();
    await image();
  },
  async up() {
    const controlPlane = await startControlPlane();
    process.stdout.write(`${controlPlane.kubeconfig}\n`);
    process.stderr.write(`The API server is at ${controlPlane.url}; logs are in ${controlPlane.folder}.
  export KUBECONFIG=${controlPlane.kubeconfig}
Ctrl-C ends it.\n`);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    await controlPlane.stop();
  },
};

const [name = ''] = process.argv.slice(2);
const command = commands[name];
if (command === undefined || process.argv.length > 3) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else await command();
