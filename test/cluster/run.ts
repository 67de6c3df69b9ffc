import { once } from 'node:events';
import { startControlPlane } from './control-plane/control-plane.ts';
import { buildPrograms } from './control-plane/programs.ts';
import { kubeletUser } from './kubelet/kubelet.ts';
import { installSalt } from './salt/install.ts';
import { type Extra, extras, NODES } from './up.ts';
import { image } from './vm/image.ts';

const USAGE = `npm run cluster -- up [kubelet] [sshd] [salt] [vm]
                           a real control plane, and these beside it, until Ctrl-C; prints its kubeconfig
npm run cluster -- build   builds what the cluster tests need into the cache
`;

const [name, ...names] = process.argv.slice(2);
if (name === 'build' && names.length === 0) await build();
else if (name === 'up' && names.every((each) => each in extras)) await up(names);
else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}

async function build(): Promise<void> {
  await buildPrograms();
  await installSalt();
  await image();
}

async function up(names: readonly string[]): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const users = Object.assign({}, ...NODES.map(kubeletUser));
  const controlPlane = await startControlPlane({ users });
  const running: Extra[] = [];
  try {
    for (const each of new Set(names)) {
      const start = extras[each];
      if (start !== undefined) running.push(await start(controlPlane));
    }
    process.stdout.write(`${controlPlane.kubeconfig}\n`);
    process.stderr.write(`The API server is at ${controlPlane.url}; logs are in ${controlPlane.folder}.
  export KUBECONFIG=${controlPlane.kubeconfig}
${running.map(({ about, flags }) => `${about}\n${flags.length > 0 ? `  bin/stowage watch ${flags.join(' ')}\n` : ''}`).join('')}Ctrl-C ends it.\n`);
    await stopped;
  } finally {
    for (const each of running.reverse()) await each.stop();
    await controlPlane.stop();
  }
}
